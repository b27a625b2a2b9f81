// A service of MQTT over TLS that takes the login of each device, and then reads nothing any more. The arguments are the
// files of its certificate and of its key; it prints its port. It is a program of its own, because a process of tests may
// be busy for longer than a device waits for the answer to its login.
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { argv, stdout } from 'node:process';
import { createServer } from 'node:tls';

const CONNACK = Buffer.of(0x20, 2, 0, 0);

const [certFile, keyFile] = argv.slice(2) as [string, string];
const server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (socket) => {
  socket.on('error', () => {});
  socket.once('data', () => {
    socket.write(CONNACK);
    socket.pause();
  });
});
server.listen(0, '127.0.0.1', () => stdout.write(`${(server.address() as AddressInfo).port}\n`));
