const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

interface Binary {
  /** The version and the command; 0x21 is PROXY. */
  command?: number;
  /** The family and the protocol; 0x11 is TCP over IPv4. */
  kind?: number;
  /** The bytes after the head: addresses, ports and what else the proxy tells. */
  rest?: Buffer;
  /** The length that the head claims. */
  length?: number;
}

/** A header of version 2. */
export function binaryHeader({ command = 0x21, kind = 0x11, rest = Buffer.alloc(0), length = rest.length }: Binary) {
  const head = Buffer.from([command, kind, length >> 8, length & 0xff]);
  return Buffer.concat([SIGNATURE, head, rest]);
}

/** The addresses and ports of a connection from `client` in a header of version 2. */
export const addressesOf = (client: string): Buffer =>
  Buffer.from([...client.split('.').map(Number), 127, 0, 0, 1, 0x30, 0x39, 0x07, 0x5b]);

/** A header of version 1. */
export const textHeader = (client: string): Buffer =>
  Buffer.from(`PROXY ${client.includes(':') ? `TCP6 ${client} ::1` : `TCP4 ${client} 127.0.0.1`} 12345 1883\r\n`);
