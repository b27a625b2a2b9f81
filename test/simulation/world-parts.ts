import type { Random } from '@lapel/device-sim/random';
import type { Network } from './network.ts';
import type { Pace } from './pace.ts';
import type { Spell } from './plan.ts';
import type { Program, WorldTime } from './time.ts';

/** The port of the customer's receiver. */
export const RECEIVER = 9_000;

/** The port of the receiver of another customer. */
export const NEIGHBOUR = 9_002;

/** The port of the receiver of the customer's endpoint. */
export const ENDPOINTS = 9_001;

/** The port to which devices connect. */
export const MQTT = 1883;

/** The disk of a world: how long it takes until it has the log. */
export interface DiskConditions {
  milliseconds(): number;
  /** Whether it has no room for another page. */
  readonly isFull: boolean;
  /** Whether this commit fails, because the disk has no room for the log. */
  fails(): boolean;
}

/** The log of an open database. */
export interface OpenLog {
  /** The frames that the disk has. */
  syncedFrames: number;
  /** When the last commit was made whose effects have run before this event, in milliseconds of the world. */
  knownUntil(): number;
  salt: string;
  close(): void;
  /** Whether the database may get no more pages. */
  limit(isFull: boolean): void;
}

/** Everything that a seed decides, of the world that this process plays. */
export interface World {
  readonly seed: number;
  readonly pace: Pace;
  readonly time: WorldTime;
  readonly network: Network;
  readonly disk: DiskConditions;
  /** The logs of open databases, by their files. */
  readonly logs: Map<string, OpenLog>;
  /** A new program of the service: it has the clock of its machine, and stands still while the machine does. */
  newProgram(name: string): Program;
  /** Sets the clock of the service's machine. */
  wrongClock(by: number): void;
  /** Lets a trouble begin now. */
  begin(spell: Omit<Spell, 'from'>): void;
  /** Called after each commit, before the disk has it. */
  committed(): void;
  /** Called when a part of the world sees that a promise is broken. */
  broken(promise: string, fact: object): void;
  /** A separate source of chance for each part of the world. */
  randomOf(part: number): Random;
}
