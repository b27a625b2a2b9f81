import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

type Reaction = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers with a status before the client sends the file. */
export const refuse =
  (status: number): Reaction =>
  (_request, response) =>
    response.writeHead(status).end();

/** Takes files. The first uploads are answered by `script`, all later ones are accepted. */
export async function startUploadServer() {
  const files = new Map<string, { method: string; headers: IncomingMessage['headers']; content: Buffer }>();
  const asked: string[] = [];
  const script: Reaction[] = [];
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    files.set(url, { method, headers, content: await buffer(request) });
    response.end();
  }
  const server = createServer((request, response) => {
    take(request, response).catch(() => {}); // cut in the middle
  });
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    asked.push(request.url ?? '');
    const reaction = script.shift();
    if (reaction) return reaction(request, response);
    response.writeContinue();
    server.emit('request', request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    files,
    /** The path of each attempt. */
    asked,
    script,
    url: (path: string) => `http://127.0.0.1:${port}${path}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
