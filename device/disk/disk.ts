/** A file that outlives a power cut. Each method throws when the disk fails. */
export interface Disk {
  /** All bytes of the file; none if there is no file. */
  read(): Uint8Array;
  append(bytes: Uint8Array): void;
  /** Returns when everything that was appended is on the disk. */
  sync(): void;
  /** Cuts the file after so many bytes. */
  truncate(size: number): void;
  /** The file has these bytes, or after a power cut those from before; on the disk when it returns. */
  replace(bytes: Uint8Array): void;
  close(): void;
}
