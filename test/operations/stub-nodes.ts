import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, createServer as createTcp, type Server } from 'node:net';
import type { NodePorts } from '@lapel/tools/harness/haproxy';
import type { Test } from 'tap';

/** The first bytes of a header of the PROXY protocol, version 2; its length follows after two further bytes. */
const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const HEAD = SIGNATURE.length + 4;

export interface StubNode {
  ports: NodePorts;
  /** What `/readyz` says. */
  ready: boolean;
  /** The addresses that the PROXY protocol named. */
  named: Set<string>;
  /** The addresses that X-Forwarded-For named last. */
  forwarded: Set<string>;
}

async function listen(t: Test, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** The address in a header of the PROXY protocol (IPv4), and the rest; undefined until all of the header is there. */
function readProxyHeader(bytes: Buffer): { address: string; rest: Buffer } | undefined {
  if (bytes.length < HEAD) return undefined;
  const end = HEAD + bytes.readUInt16BE(HEAD - 2);
  if (bytes.length < end) return undefined;
  return { address: [...bytes.subarray(HEAD, HEAD + 4)].join('.'), rest: bytes.subarray(end) };
}

/** A node that only says its number: in the answer to each call, and as the answer to the first bytes of a device. */
async function startNode(t: Test, number: number, ready: boolean): Promise<StubNode> {
  const node: StubNode = { ports: { http: 0, admin: 0, mqtt: 0 }, ready, named: new Set(), forwarded: new Set() };
  const api = createHttp((request, response) => {
    node.forwarded.add(String(request.headers['x-forwarded-for']).split(', ').at(-1) ?? '');
    request.resume().once('end', () => response.end(String(number)));
  });
  const admin = createHttp((_, response) => {
    response.writeHead(node.ready ? 200 : 503).end();
  });
  const mqtt = createTcp((socket) => {
    let bytes: Buffer = Buffer.alloc(0);
    socket
      .on('error', () => undefined)
      .on('data', (part) => {
        bytes = Buffer.concat([bytes, part]);
        if (bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) {
          const header = readProxyHeader(bytes);
          if (!header) return;
          node.named.add(header.address);
          bytes = header.rest;
        }
        if (bytes.length > 0) socket.end(String(number));
      });
  });
  t.teardown(() => api.closeAllConnections());
  t.teardown(() => admin.closeAllConnections());
  node.ports = { http: await listen(t, api), admin: await listen(t, admin), mqtt: await listen(t, mqtt) };
  return node;
}

/** Nodes whose numbers begin at 1. Those above `ready` are not ready yet. */
export const startNodes = (t: Test, count: number, ready = count): Promise<StubNode[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => startNode(t, index + 1, index < ready)));
