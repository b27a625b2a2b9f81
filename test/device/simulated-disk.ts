import type { Disk } from '@lapel/device/disk/disk';

/** A disk that loses at a power cut what was not synced, and that fails when told. */
export class SimulatedDisk implements Disk {
  fails = false;
  /** Called before each append, sync, cut and replacement; it may throw in place of them. */
  before: (step: 'append' | 'sync' | 'truncate' | 'replace') => void = () => {};
  #bytes = Buffer.alloc(0);
  #synced = Buffer.alloc(0);
  #last = { start: 0, end: 0 };

  get syncedBytes(): Buffer {
    return this.#synced;
  }

  read(): Uint8Array {
    return this.#bytes;
  }

  append(bytes: Uint8Array): void {
    this.#step('append');
    this.#last = { start: this.#bytes.length, end: this.#bytes.length + bytes.length };
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
  }

  sync(): void {
    this.#step('sync');
    this.#synced = this.#bytes;
  }

  truncate(size: number): void {
    this.#step('truncate');
    this.#bytes = this.#bytes.subarray(0, size);
    this.#synced = this.#bytes;
  }

  replace(bytes: Uint8Array): void {
    this.#step('replace');
    this.#bytes = Buffer.from(bytes);
    this.#synced = this.#bytes;
  }

  close(): void {}

  /** Of the bytes that were not synced, so many are on the disk nevertheless. */
  cutPower(luckyBytes = 0): void {
    const kept = Math.min(this.#synced.length + luckyBytes, this.#bytes.length);
    this.#bytes = kept > this.#synced.length ? this.#bytes.subarray(0, kept) : this.#synced;
    this.#synced = this.#bytes;
  }

  /** A power cut that leaves only so many bytes of the last append. */
  tear(bytes: number): void {
    this.#synced = this.#synced.subarray(0, Math.min(this.#last.start + bytes, this.#last.end));
    this.cutPower();
  }

  /** Changes a byte of the JSON of a line; the first line is 1. */
  flip(line: number): void {
    const bytes = Buffer.from(this.#synced);
    let end = -1;
    for (let left = line; left > 0; left -= 1) end = bytes.indexOf('\n', end + 1);
    bytes[end - 1]! ^= 1;
    this.#synced = bytes;
    this.#bytes = bytes;
  }

  /** Another disk with the bytes that a power cut would leave now. */
  copy(): SimulatedDisk {
    const copy = new SimulatedDisk();
    copy.#bytes = this.#synced;
    copy.#synced = this.#synced;
    return copy;
  }

  #step(step: Parameters<SimulatedDisk['before']>[0]): void {
    if (this.fails) throw new Error('no space left on the disk');
    this.before(step);
  }
}
