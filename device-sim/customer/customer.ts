import type { Fleet } from '../fleet/fleet.ts';
import type { Action } from './action.ts';
import type { Ledger } from './ledger.ts';

/** What a receiver can be made to do to webhooks and requests for upload URLs. */
export const RECEIVER_FAULTS = {
  fail: 'answers 503',
  slow: 'answers after three seconds',
  hang: 'never answers',
  'go-away': 'closes the connection without an answer',
} as const satisfies Record<string, string>;
export type ReceiverFault = keyof typeof RECEIVER_FAULTS;

/** What the service says at the end about what has no result. */
export interface Settlement {
  /** Transactions without a result that owe none: their device is away, or has never answered. */
  readonly unfinished: number;
  readonly away: number;
  readonly unanswered: number;
}

/** The customer of a fleet: an application with its receiver and its store, which acts and keeps books. */
export interface Customer extends AsyncDisposable {
  readonly ledger: Ledger;
  readonly receiver: {
    /** Its address for the service. */
    readonly url: string;
    /** From now on this happens to a share (0 to 1) of what comes; null: nothing. */
    play(fault: ReceiverFault | null, share?: number): void;
  };
  /** Receiver up, key issued, settings set; resolves when the service takes them. Rejects in words. */
  start(): Promise<void>;
  /** From now on the books follow what the devices of the fleet tell. */
  follow(fleet: Fleet): void;
  /**
   * Activates those that are not; gives those that are activated then. A device that does not answer keeps nobody from going on: after
   * `patience` milliseconds it is left where it is.
   */
  activate(deviceIds: readonly string[], phase: string, patience: number): Promise<string[]>;
  /** Does one thing. What comes of it is in the ledger; rejects never. */
  act(action: Action, deviceId: string, phase: string): Promise<void>;
  /**
   * Waits until everything accepted has its result, `milliseconds` at most; then asks the service about what has none, and puts
   * what is lost into the ledger.
   */
  settle(milliseconds: number): Promise<Settlement>;
}
