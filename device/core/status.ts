import { isDeepStrictEqual } from 'node:util';
import type { Stage } from './stage.ts';

/** The state that the maker has reported since the start, sent at each login and at each change (rule `status`). */
export class Status {
  readonly #stage: Stage;
  #all: Record<string, unknown> = {};

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  report(status: object): void {
    const changes = Object.entries(status).filter(([name, value]) => !isDeepStrictEqual(this.#all[name], value));
    if (changes.length === 0) return;
    const changed = structuredClone(Object.fromEntries(changes));
    this.#all = { ...this.#all, ...changed };
    if (this.#stage.isConnected) this.#stage.publish({ kind: 'status', message: changed });
  }

  connected(): void {
    this.#stage.publish({ kind: 'status', message: this.#all });
  }
}
