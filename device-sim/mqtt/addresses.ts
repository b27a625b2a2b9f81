/** The addresses of the nodes of a service, in the order in which one device tries them. */
export class Addresses {
  readonly #urls: readonly string[];
  #at = 0;

  constructor(url: string | readonly string[]) {
    this.#urls = [url].flat();
  }

  get current(): string {
    return this.#urls[this.#at]!;
  }

  /** The connection has failed or broken, so the next one is made to the next node. */
  next(): void {
    this.#at = (this.#at + 1) % this.#urls.length;
  }
}

/** The same addresses, beginning with another one: so the devices of a fleet spread over the nodes. */
export function beginningWith(urls: readonly string[], place: number): readonly string[] {
  const first = place % urls.length;
  return first === 0 ? urls : [...urls.slice(first), ...urls.slice(0, first)];
}
