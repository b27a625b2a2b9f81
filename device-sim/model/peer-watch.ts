import { createRandom, deriveSeed, type Random } from '../random.ts';
import { peerChanges, wandered } from './bluetooth.ts';
import type { DeviceModel } from './device-model.ts';
import type { DeviceState } from './device-state.ts';

/** Reports when paired Bluetooth devices come into reach or leave it. */
export class PeerWatch {
  readonly #model: DeviceModel;
  readonly #seed: number;
  readonly #tell: (type: string, peer: Record<string, unknown>) => void;
  #reported: DeviceState['bluetooth'];
  #wanderings: Random | undefined;

  constructor(model: DeviceModel, seed: number, tell: (type: string, peer: Record<string, unknown>) => void) {
    this.#model = model;
    this.#seed = seed;
    this.#tell = tell;
    this.#reported = model.state.bluetooth;
  }

  /** Lets one of the paired devices come or go. */
  move(): void {
    const { state } = this.#model;
    this.#wanderings ??= createRandom(deriveSeed(this.#seed, 6));
    state.bluetooth = wandered(state.bluetooth, this.#wanderings);
    this.report();
  }

  /** Reports what has changed since the last report. */
  report(): void {
    const before = this.#reported;
    const now = this.#model.state.bluetooth;
    if (before === now) return;
    this.#reported = now;
    for (const { type, peer } of peerChanges(before, now, this.#model.peers)) this.#tell(type, { ...peer });
  }
}
