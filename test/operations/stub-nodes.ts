import { once } from 'node:events';
import { createServer as createHttp, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { createServer as createTcp, type Server, type Socket } from 'node:net';
import { freePorts } from '@lapel/tools/harness/free-port';
import type { NodePorts } from '@lapel/tools/harness/haproxy';
import type { Test } from 'tap';

/** The first bytes of a header of the PROXY protocol, version 2; its length follows after two further bytes. */
const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** The first bytes of a header of version 1, which is a line. */
const TEXT = Buffer.from('PROXY ');
const HEAD = SIGNATURE.length + 4;

export interface StubNode {
  ports: NodePorts;
  /** What `/readyz` says. */
  ready: boolean;
  /** Ends all connections and accepts no more, or accepts them again. */
  setOpen(open: boolean): Promise<void>;
  /** The addresses that the PROXY protocol named. */
  named: Set<string>;
  /** The addresses that X-Forwarded-For named last. */
  forwarded: Set<string>;
  /** The headers of the last request for each path, of the API and of administration. */
  heard: Map<string, IncomingHttpHeaders>;
  /** Sends an event to the one who asked last for events of administration. */
  tell(event: string): void;
}

const listenOn = async (server: Server, port: number): Promise<void> => {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
};

async function end(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  for (const socket of sockets) socket.destroy();
  await closed;
}

/** The address in a header of the PROXY protocol (IPv4), and the rest; undefined until all of the header is there. */
function readProxyHeader(bytes: Buffer): { address: string; rest: Buffer } | undefined {
  if (bytes.subarray(0, TEXT.length).equals(TEXT)) {
    const line = bytes.indexOf('\r\n');
    if (line < 0) return undefined;
    return { address: bytes.toString('latin1', 0, line).split(' ')[2] ?? '', rest: bytes.subarray(line + 2) };
  }
  if (bytes.length < HEAD) return undefined;
  const end = HEAD + bytes.readUInt16BE(HEAD - 2);
  if (bytes.length < end) return undefined;
  return { address: [...bytes.subarray(HEAD, HEAD + 4)].join('.'), rest: bytes.subarray(end) };
}

/** A node that only says its number: in the answer to each call, and as the answer to the first bytes of a device. */
async function startNode(t: Test, number: number, ready: boolean): Promise<StubNode> {
  const node: StubNode = {
    ports: { http: 0, admin: 0, mqtt: 0 },
    ready,
    setOpen: async () => undefined,
    named: new Set(),
    forwarded: new Set(),
    heard: new Map(),
    tell: () => undefined,
  };
  const hear = ({ url = '', headers }: IncomingMessage): unknown => node.heard.set(url, headers);
  const api = createHttp((request, response) => {
    hear(request);
    node.forwarded.add(String(request.headers['x-forwarded-for']).split(', ').at(-1) ?? '');
    request.resume().once('end', () => response.end(String(number)));
  });
  const admin = createHttp((request, response) => {
    hear(request);
    if (request.headers.accept === 'text/event-stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      node.tell = (event) => void response.write(event);
    } else response.writeHead(node.ready ? 200 : 503).end();
  });
  const mqtt = createTcp((socket) => {
    let bytes: Buffer = Buffer.alloc(0);
    socket
      .on('error', () => undefined)
      .on('data', (part) => {
        bytes = Buffer.concat([bytes, part]);
        if ([SIGNATURE, TEXT].some((begin) => bytes.subarray(0, begin.length).equals(begin))) {
          const header = readProxyHeader(bytes);
          if (!header) return;
          node.named.add(header.address);
          bytes = header.rest;
        }
        if (bytes.length > 0 && socket.bytesWritten === 0) socket.write(String(number));
      });
  });
  const servers = [api, admin, mqtt];
  const sockets = new Set<Socket>();
  for (const server of servers)
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
  const ports = await freePorts(servers.length);
  const [http = 0, ofAdmin = 0, ofMqtt = 0] = ports;
  node.ports = { http, admin: ofAdmin, mqtt: ofMqtt };
  node.setOpen = async (open) => {
    await Promise.all(servers.map((server, index) => (open ? listenOn(server, ports[index]!) : end(server, sockets))));
  };
  await node.setOpen(true);
  t.teardown(() => node.setOpen(false));
  return node;
}

/** Nodes whose numbers begin at 1. Those above `ready` are not ready yet. */
export const startNodes = (t: Test, count: number, ready = count): Promise<StubNode[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => startNode(t, index + 1, index < ready)));
