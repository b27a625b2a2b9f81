import type { Client } from 'aedes';

/** Largest remaining length of a packet, in bytes: before a client is authenticated, and after. */
export const PACKET_LIMITS = { beforeLogin: 4 * 1024, afterLogin: 256 * 1024 };

interface Parser {
  packet: { length: number };
  _parseLength(): boolean;
  _emitError(error: Error): boolean;
}

/**
 * Refuses a packet by the length that it claims, before a byte of it is kept: the parser has no bound of its own, and
 * would hold 256 MB for somebody who never logged in. The answer is a closed connection; 3.1.1 has no other.
 */
export function limitPackets(client: Client, isAuthenticated: () => boolean, refused: () => void): void {
  const parser = (client as unknown as { _parser: Parser })._parser;
  const parseLength = parser._parseLength.bind(parser);
  parser._parseLength = () => {
    if (!parseLength()) return false;
    const limit = isAuthenticated() ? PACKET_LIMITS.afterLogin : PACKET_LIMITS.beforeLogin;
    if (parser.packet.length <= limit) return true;
    refused();
    return parser._emitError(new Error(`packet of ${parser.packet.length} bytes is larger than ${limit}`));
  };
}
