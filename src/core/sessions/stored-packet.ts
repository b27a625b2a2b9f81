/** A packet that is kept in a row. */
export interface StoredPacket {
  clientId: string;
  /** All fields of the packet except the payload. */
  packet: Record<string, unknown>;
  payload: Buffer | null;
}

/** Such a row. */
export type PacketRow = Omit<StoredPacket, 'packet'> & { packet: string };
/** The packet of a row. */
export const toPacket = <Row extends PacketRow>(row: Row): Omit<Row, 'packet'> & StoredPacket => ({
  ...row,
  packet: JSON.parse(row.packet) as Record<string, unknown>,
});
