interface Due {
  at: number;
  order: number;
  task(): void;
}

/** Time that goes to the next task that is due, in the order of their times and then of their making. */
export class SimulatedTime {
  readonly #due: Due[] = [];
  #order = 0;
  now: number;

  constructor(now: number) {
    this.now = now;
  }

  after(milliseconds: number, task: () => void): () => void {
    this.#order += 1;
    const due = { at: this.now + Math.max(0, milliseconds), order: this.#order, task };
    const place = this.#due.findIndex((one) => one.at > due.at);
    this.#due.splice(place === -1 ? this.#due.length : place, 0, due);
    return () => {
      const index = this.#due.indexOf(due);
      if (index !== -1) this.#due.splice(index, 1);
    };
  }

  /** Carries out everything that is due until a time. */
  runUntil(end: number): void {
    for (let next = this.#due[0]; next && next.at <= end; next = this.#due[0]) {
      this.#due.shift();
      this.now = next.at;
      next.task();
    }
    this.now = end;
  }
}
