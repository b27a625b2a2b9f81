import { isDeepStrictEqual } from 'node:util';
import type { Login, Logins } from '../connection/connection.ts';

/** The settings of the device; null removes one. */
export interface Store {
  setting(name: string): unknown;
  set(name: string, value: unknown): void;
}

/**
 * The logins of a device: the next one, the one that was accepted, and the one of its maker, each once. After a refusal it
 * takes the next of them ("Refused logins" in docs/devices.md).
 */
export class StoredLogins implements Logins {
  readonly #store: Store;
  readonly #ofMaker: Login | undefined;
  #refusals = 0;

  constructor(store: Store, ofMaker: Login | undefined) {
    this.#store = store;
    this.#ofMaker = ofMaker;
  }

  /** Undefined: the device has to enrol. */
  get known(): Login | undefined {
    return this.#all[0];
  }

  get current(): Login {
    const all = this.#all;
    const login = all[this.#refusals % all.length];
    if (!login) throw new Error('the device has neither a credential nor a certificate.');
    return login;
  }

  /** Is tried from the next connection on; the former one stays until its login has succeeded. */
  add(login: Login): void {
    this.#store.set('nextLogin', login);
    this.#refusals = 0;
  }

  refused(): void {
    this.#refusals += 1;
  }

  succeeded(): void {
    const next = this.#store.setting('nextLogin');
    if (next === undefined || !isDeepStrictEqual(next, this.current)) return;
    this.#store.set('login', next); // a power cut here leaves it twice, which does no harm
    this.#store.set('nextLogin', null);
    if (this.#store.setting('nonce') !== undefined) this.#store.set('nonce', null);
  }

  get #all(): Login[] {
    const logins = [this.#store.setting('nextLogin'), this.#store.setting('login'), this.#ofMaker];
    const known = logins.filter((login) => login !== undefined) as Login[];
    return known.filter((login, at) => known.findIndex((one) => isDeepStrictEqual(one, login)) === at);
  }
}
