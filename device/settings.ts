import type { Core } from './core/core.ts';

/** Settings that the library keeps for itself. */
const OWN: readonly string[] = ['trial', 'login', 'nextLogin', 'nonce'];

/**
 * Small values that outlive a restart, by name: the language, the application, a volume. The lists of Wi-Fi networks and
 * access points are here as `networks` and `apns`; a maker stores the ones of the factory.
 */
export class Settings {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** A copy of the value. Undefined: there is none. */
  get<Value = unknown>(name: string): Value | undefined {
    return structuredClone(this.#core.setting(name)) as Value | undefined;
  }

  /**
   * The value, as JSON, is on the disk on return; null removes it. Throws if the disk fails: then the setting is as before.
   */
  set(name: string, value: unknown): void {
    if (OWN.includes(name)) throw new Error(`${name}: the library itself has a setting of this name.`);
    this.#core.set(name, value);
  }
}
