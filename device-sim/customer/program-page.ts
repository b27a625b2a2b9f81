import { aboutEvent, type CameEvent, eventName } from './came-event.ts';
import { createDeviceOrder } from './device-order.ts';
import type { Breached, Ledger } from './ledger.ts';
import { type Program, programName, wants } from './program.ts';
import type { Note } from './story.ts';

/** The most numbers of one hole that are counted. */
const MOST_MISSED = 100;
/** Milliseconds until a program that stores late has stored an event. */
const STORED_MILLISECONDS = 1000;
const INNOCENT = 'the service has done nothing wrong';

/** A number of a device that did not come, although a later one did. */
export interface Hole {
  readonly about: Breached;
  readonly number: number;
  /** The line about the event before it. */
  readonly behind: Note;
}

/** The books about one program: the order in which events come to it, and what it does with them. */
export interface ProgramPage {
  readonly program: Program;
  /** How often an event has come. */
  readonly arrivals: number;
  /** Events with higher numbers are owed to the program; infinite before it has begun. */
  readonly since: number;
  begin(since: number): void;
  /** An event came. `isAgain`: it came to this program before. `isAnswered`: the program has answered 2xx. */
  came(event: CameEvent & { sequence: number }, at: number, isAgain: boolean, isAnswered: boolean): void;
  /** A reader begins at this place: it was restarted, or (`isOwn`) it has lost its place. */
  placed(after: number, isOwn: boolean, at: number): void;
  /** A reader has moved its place without handling the events between. */
  passed(from: number, to: number): void;
  hasPassed(sequence: number): boolean;
  /** The next event that the program answers is lost, with those that it has not stored. */
  forget(): void;
  holes(): readonly Hole[];
  /** Numbers of devices come again: a backup has taken the place of the data. */
  restored(): void;
}

export function createProgramPage(
  program: Program,
  { breached, counted, look, presentPhase }: Pick<Ledger, 'breached' | 'counted' | 'look' | 'presentPhase'>,
): ProgramPage {
  const name = programName(program);
  const isConsumer = program.kind === 'consumer';
  const isWhole = program.types.length === 0;
  const order = createDeviceOrder();
  /** When the last event of each device came. */
  const latest = new Map<string, number>();
  /** By device and number. */
  const holes = new Map<string, Hole>();
  /** The parts of the stream that the program itself has passed over, without the first number. */
  const ranges: { readonly from: number; readonly to: number }[] = [];
  /** The events of the last second. */
  let fresh: { readonly event: CameEvent; readonly at: number }[] = [];
  let isForgetting = false;
  let since = Number.POSITIVE_INFINITY;
  /** The number of the last event of a reader; those up to `reached` come again, because it went back. */
  let last = 0;
  let reached = 0;
  let arrivals = 0;

  /** Judges the number of an event of a device, and remembers the holes before it. */
  function judgeNumber(event: CameEvent, at: number): void {
    const { deviceSequence: number } = event;
    if (number === undefined) return;
    const about = aboutEvent(event);
    const { deviceId } = about;
    const { fit, before } = order.came(deviceId, number);
    holes.delete(`${deviceId} ${number}`);
    const lastAt = latest.get(deviceId) ?? at;
    const behind = { at: lastAt, who: 'service', text: `sends number ${before} of the device to ${name}` };
    if (fit !== 'first') look(isConsumer ? 'stream-order' : 'endpoint-order');
    if (fit === 'back') {
      breached('order', about, `${eventName(event)} came to ${name} after number ${before}`, at, [behind]);
      return;
    }
    latest.set(deviceId, at);
    if (!isWhole || (fit !== 'next' && fit !== 'hole')) return;
    look('device-numbers');
    for (let missed = Math.max(before + 1, number - MOST_MISSED); missed < number; missed += 1)
      holes.set(`${deviceId} ${missed}`, { about: { deviceId, phase: presentPhase() }, number: missed, behind });
  }

  /** Judges the place of an event in the stream. */
  function judgePlace(event: CameEvent & { sequence: number }, isAgain: boolean, at: number): void {
    const { sequence } = event;
    look('stream-order');
    if (sequence <= last) {
      breached('order', aboutEvent(event), `${eventName(event)} came to ${name} after event ${last}`, at);
      return;
    }
    last = sequence;
    if (isAgain && sequence <= reached) counted('customerAgain', aboutEvent(event).deviceId);
  }

  function store(event: CameEvent, at: number): void {
    fresh = [...fresh.filter((one) => one.at > at - STORED_MILLISECONDS), { event, at }];
    if (!isForgetting) return;
    isForgetting = false;
    for (const one of fresh) counted('customerLost', aboutEvent(one.event).deviceId);
    const text = `${name} answered ${fresh.length} events and lost them in a crash, before it had stored them, at last ${eventName(event)}; ${INNOCENT}`;
    breached('programs', aboutEvent(event), text, at);
    fresh = [];
  }

  return {
    program,
    get arrivals() {
      return arrivals;
    },
    get since() {
      return since;
    },
    begin(from) {
      [since, last] = [from, from];
    },
    came(event, at, isAgain, isAnswered) {
      arrivals += 1;
      const about = aboutEvent(event);
      look('event-types');
      if (!wants(program, event.type))
        breached('violations', about, `${name} got ${eventName(event)}, whose type it has not asked for`, at);
      if (!isAgain) counted(isConsumer ? 'pulled' : 'pushed', about.deviceId);
      if (isConsumer) judgePlace(event, isAgain, at);
      else if (isAnswered && !isAgain) store(event, at);
      if (isConsumer ? !isAgain : program.isOrdered) judgeNumber(event, at);
    },
    placed(after, isOwn, at) {
      if (isOwn && after < last) {
        reached = Math.max(reached, last);
        const text = `${name} lost its place behind event ${last}, and gets again what came after event ${after}; ${INNOCENT}`;
        breached('programs', { deviceId: '' }, text, at);
      }
      if (isOwn && after > last) {
        ranges.push({ from: last, to: after });
        order.forget();
      }
      last = after;
    },
    passed(from, to) {
      ranges.push({ from, to });
      order.forget();
      last = to;
    },
    hasPassed: (sequence) => ranges.some(({ from, to }) => sequence > from && sequence <= to),
    forget() {
      isForgetting = true;
    },
    holes: () => [...holes.values()],
    restored() {
      order.forget();
      holes.clear();
      last = 0;
    },
  };
}
