import { AsyncLocalStorage } from 'node:async_hooks';
import { SHORT } from './pace.ts';

/** Milliseconds since 1970 at which every world begins: a Monday. */
export const BEGIN = Date.UTC(2026, 5, 1);

/** A program of the world: the service, or the programs around it. Each callback belongs to one. */
export interface Program {
  readonly name: string;
  /** False once it was killed: nothing of it runs any more. */
  isAlive: boolean;
  /** Milliseconds by which its wall clock is ahead of the true time. */
  ahead: number;
  /** The moment at which it goes on; before, it stands still. */
  resumesAt: number;
  /** The files that it has open: the system closes them when it is killed. */
  readonly files?: Set<{ close(): Promise<void> }>;
}

interface Event {
  readonly at: number;
  /** Events of one moment happen in the order in which they were set. */
  readonly order: number;
  readonly program: Program;
  readonly kind: string;
  task: (() => void) | undefined;
  /** Called in place of the task when the program was killed. */
  readonly lost: (() => void) | undefined;
}

const isBefore = (one: Event, two: Event): boolean => one.at < two.at || (one.at === two.at && one.order < two.order);

/** A heap of events, the next one first. */
class Agenda {
  readonly #events: Event[] = [];

  get size(): number {
    return this.#events.length;
  }

  add(event: Event): void {
    const events = this.#events;
    let place = events.length;
    events.push(event);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isBefore(event, events[parent]!)) break;
      events[place] = events[parent]!;
      place = parent;
    }
    events[place] = event;
  }

  take(): Event | undefined {
    const events = this.#events;
    const [first] = events;
    const last = events.pop();
    if (first === undefined || last === undefined || events.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= events.length) break;
      if (child + 1 < events.length && isBefore(events[child + 1]!, events[child]!)) child += 1;
      if (!isBefore(events[child]!, last)) break;
      events[place] = events[child]!;
      place = child;
    }
    events[place] = last;
    return first;
  }
}

const turnOfTheLoop = setImmediate;
/**
 * Turns are asked for in lots: between two of them Node runs all promises and process.nextTick, but asks the system for its
 * work only once for all, which would take longer than most events.
 */
const LOT = 64;
let turnsLeft = 0;
let waiting: (() => void) | undefined;
/** A process has one world; only tests of this file have several at a time. */
const others: (() => void)[] = [];

function turn(): void {
  turnsLeft -= 1;
  const resolve = waiting;
  waiting = undefined;
  resolve?.();
  if (others.length > 0) for (const one of others.splice(0)) one();
}

/** The turn after which all callbacks have run that need no event: promises, and process.nextTick. */
const settled = (): Promise<void> =>
  new Promise((resolve) => {
    if (waiting === undefined) waiting = resolve;
    else others.push(resolve);
    if (turnsLeft > 0) return;
    for (; turnsLeft < LOT; turnsLeft += 1) turnOfTheLoop(turn);
  });

function closeFile(opened: unknown): void {
  if (opened instanceof Object && 'fd' in opened && 'close' in opened)
    (opened as { close(): Promise<void> }).close().catch(() => undefined);
}

/** The world waits for something that cannot happen, or goes round in a circle. */
export class Stuck extends Error {}

/**
 * The time of a world. Nothing in it takes time but what is planned: the next planned moment is the next that happens, and
 * happens at once. `onEvent` is told of each.
 */
export class WorldTime {
  readonly around: Program = { name: 'around', isAlive: true, ahead: 0, resumesAt: 0 };
  readonly #agenda = new Agenda();
  readonly #running = new AsyncLocalStorage<Program>();
  readonly #frames = new Map<Program, (task: () => void) => void>();
  /** Work of the machine itself: a file that is read, a key that is made. */
  readonly #outside: { done: Promise<unknown>; deliver: () => void; lost: () => void; program: Program }[] = [];
  readonly #mostEvents: number;
  #now = 0;
  #orders = 0;
  /** The number of the event that happens. */
  turn = 0;
  /** The milliseconds of the world that a piece of work of the machine takes. */
  machine: () => number = () => 0;
  onEvent: (at: number, program: string, kind: string) => void = () => undefined;

  /** `mostEvents`: a world with more events goes round in a circle. */
  constructor(mostEvents = SHORT.mostEvents) {
    this.#mostEvents = mostEvents;
  }

  /** Milliseconds since the world began. */
  get now(): number {
    return this.#now;
  }

  /** The program whose code runs. */
  get program(): Program {
    return this.#running.getStore() ?? this.around;
  }

  /** Runs code as that of a program. */
  within<Result>(program: Program, work: () => Result): Result {
    return this.#running.run(program, work);
  }

  /** Runs an event. Each program has one frame for all its events, because a new one for each takes time. */
  #happen({ program, task }: Event): void {
    let frame = this.#frames.get(program);
    if (!frame) {
      frame = this.within(program, () => AsyncLocalStorage.snapshot());
      this.#frames.set(program, frame);
    }
    if (task) frame(task);
  }

  /** Plans a task of a program, by default of the one that runs. The returned function cancels it. */
  plan(milliseconds: number, kind: string, task: () => void, program = this.program, lost?: () => void): () => void {
    const at = this.#now + (milliseconds > 0 ? milliseconds : 0);
    this.#orders += 1;
    const event: Event = { at, order: this.#orders, program, kind, task, lost };
    this.#agenda.add(event);
    return () => {
      event.task = undefined;
    };
  }

  /** Waits for work of the machine, which takes the time of the world that `machine` says, however long it takes here. */
  outside<Result>(work: Promise<Result>): Promise<Result> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = work.then(
      () => undefined,
      () => undefined,
    );
    // A file that a killed program has opened is closed, as the system does.
    const lost = (): void => void work.then(closeFile, () => undefined);
    this.#outside.push({ done, deliver: resolve, lost, program: this.program });
    return promise.then(() => work);
  }

  /** Lets the world go on until a promise is settled. Rejects with Stuck if that cannot happen any more. */
  async run<Result>(until: Promise<Result>): Promise<Result> {
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    until.then(over, over);
    for (let events = 0; ; events += 1) {
      if (events > this.#mostEvents) throw new Stuck(`the world goes on after ${this.#mostEvents} events`);
      await settled();
      if (isOver) return until;
      const outside = this.#outside.shift();
      if (outside) {
        await outside.done;
        this.plan(this.machine(), 'machine', outside.deliver, outside.program, outside.lost);
        continue;
      }
      const event = this.#agenda.take();
      if (event === undefined) throw new Stuck('nothing is planned any more');
      if (!event.program.isAlive) event.lost?.();
      if (event.task === undefined || !event.program.isAlive) continue;
      if (event.program.resumesAt > event.at) {
        this.#agenda.add({ ...event, at: event.program.resumesAt, order: event.order });
        continue;
      }
      this.#now = event.at;
      this.turn += 1;
      this.onEvent(event.at, event.program.name, event.kind);
      this.#happen(event);
    }
  }
}
