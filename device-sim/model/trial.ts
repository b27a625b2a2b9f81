import type { Link } from '../mqtt/link.ts';
import type { Answer } from '../mqtt/messages.ts';
import type { Timers } from '../timers.ts';
import type { DeviceFaults } from './device-faults.ts';
import type { DeviceModel } from './device-model.ts';
import type { Journal } from './state-file.ts';

interface Parts {
  readonly model: DeviceModel;
  readonly link: Link;
  readonly timers: Timers;
  readonly journal: Journal | undefined;
  readonly faults: () => DeviceFaults | undefined;
  readonly conclude: (answer: Answer) => void;
  /** Begins the commands that wait. */
  readonly work: () => void;
}

/** The restart at which a device goes back at once: one that restarts more often than its time would never go back. */
const MOST_RESTARTS = 5;

/** A list of networks that a device tries: the trial ends with the next login, or when its time is over. */
export class RunningTrial {
  readonly #parts: Parts;
  #cancel: (() => void) | undefined;
  #isLeaving = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  begin(): void {
    const { timers, model, journal } = this.#parts;
    journal?.record(undefined, model.state);
    this.#count(0);
    this.#isLeaving = true;
    // In the next turn, so that the PUBACK of the command goes out before.
    timers.after(0, () => this.#leave());
  }

  /** The device is switched off for so many milliseconds. A restart takes its clock away, so it counts anew. */
  restarts(milliseconds: number): void {
    const { model, journal } = this.#parts;
    const { trial } = model.state;
    if (!trial) return;
    model.state.trial = { ...trial, restarts: (trial.restarts ?? 0) + 1 };
    journal?.record(undefined, model.state);
    this.#count(milliseconds);
  }

  /** The device has logged in. */
  online(): void {
    if (!this.#isLeaving && this.#parts.model.state.trial) this.#end(true);
  }

  stop(): void {
    this.#cancel?.();
  }

  /** Ends the connection over the former networks. */
  #leave(): void {
    const { model, link, faults } = this.#parts;
    this.#isLeaving = false;
    const { trial } = model.state;
    if (!trial) return;
    faults()?.tries(trial.transactionId);
    void link.close();
  }

  #count(pause: number): void {
    this.#cancel?.();
    const { model, timers } = this.#parts;
    const { revertAfter = 0, restarts = 0 } = model.state.trial ?? {};
    const time = restarts < MOST_RESTARTS ? 1000 * revertAfter : 0;
    this.#cancel = timers.after(pause + time, () => this.#end(false));
  }

  #end(isReached: boolean): void {
    const { model, faults, conclude, work } = this.#parts;
    this.#cancel?.();
    const answer = model.endTrial(isReached);
    if (answer) conclude(answer);
    else faults()?.isBack();
    work();
  }
}
