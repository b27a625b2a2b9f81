import type { Ack, DiskRecord, EventMessage, Importance } from './records.ts';

/** The service repeats no command that is older (rule `memory`). */
const DAYS_30 = 30 * 86_400_000;
/** Of commands that began, and neither ended nor came again: as many as wait for a device at a time. */
const MOST_BEGUN = 1000;
/** Outside of these years a device has lost its clock. */
const PLAUSIBLE = { from: Date.UTC(2025, 0), to: Date.UTC(2085, 0) };

export const isPlausible = (time: number): boolean => time >= PLAUSIBLE.from && time < PLAUSIBLE.to;

const isOld = (at: number, now: number): boolean => isPlausible(at) && isPlausible(now) && now - at > DAYS_30;

export interface AnswerBounds {
  /** So many answers stay, however old they are. */
  leastAnswers: number;
  /** More answers than these never stay. */
  mostAnswers: number;
}

interface Answer {
  at: number;
  ack: Ack;
  isAcked: boolean;
}

interface Begun {
  at: number;
  operation: string;
  /** Undefined: none was stored. */
  progress?: unknown;
}

export interface StoredEvent {
  importance: Importance;
  message: EventMessage;
  bytes: number;
}

/** The state that the records of the file make. Only `apply` changes it, so that a reload finds the same. */
export class Memory {
  /** In the order in which they were given. */
  readonly answers = new Map<string, Answer>();
  readonly begun = new Map<string, Begun>();
  /** In the order in which they occurred. */
  readonly events = new Map<string, StoredEvent>();
  readonly settings = new Map<string, unknown>();
  dropped: { count: number; since: string | null } = { count: 0, since: null };
  eventBytes = 0;
  readonly #bounds: AnswerBounds;

  constructor(bounds: AnswerBounds) {
    this.#bounds = bounds;
  }

  apply(record: DiskRecord): void {
    switch (record.k) {
      case 'begun': {
        const { at, operation } = record;
        this.begun.set(record.id, { at, operation });
        this.#forgetBegun(at);
        break;
      }
      case 'progress': {
        const begun = this.begun.get(record.id);
        if (begun) begun.progress = record.value;
        break;
      }
      case 'answer': {
        const { at, ack } = record;
        this.begun.delete(record.id);
        this.answers.set(record.id, { at, ack, isAcked: false });
        this.#forgetAnswers(at);
        this.#forgetBegun(at);
        break;
      }
      case 'acked': {
        const answer = this.answers.get(record.id);
        if (answer) answer.isAcked = true;
        break;
      }
      case 'event': {
        const { importance, message } = record;
        const bytes = Buffer.byteLength(JSON.stringify(message));
        this.events.set(record.id, { importance, message, bytes });
        this.eventBytes += bytes;
        break;
      }
      case 'told':
        this.eventBytes -= this.events.get(record.id)?.bytes ?? 0;
        this.events.delete(record.id);
        break;
      case 'dropped':
        this.dropped = { count: record.count, since: record.since };
        break;
      case 'set':
        if (record.value === null) this.settings.delete(record.name);
        else this.settings.set(record.name, record.value);
        break;
      default: // of a newer version
    }
  }

  /** The records that make this memory anew. */
  *records(): Generator<DiskRecord> {
    for (const [name, value] of this.settings) yield { k: 'set', name, value };
    for (const [id, { at, operation, progress }] of this.begun) {
      yield { k: 'begun', id, at, operation };
      if (progress !== undefined) yield { k: 'progress', id, value: progress };
    }
    for (const [id, { at, ack, isAcked }] of this.answers) {
      yield { k: 'answer', id, at, ack };
      if (isAcked) yield { k: 'acked', id };
    }
    for (const [id, { importance, message }] of this.events) yield { k: 'event', id, importance, message };
    if (this.dropped.count > 0) yield { k: 'dropped', ...this.dropped };
  }

  #forgetAnswers(now: number): void {
    const { leastAnswers, mostAnswers } = this.#bounds;
    let above = this.answers.size - leastAnswers;
    for (const [id, { at }] of this.answers) {
      if (above-- <= 0) return;
      if (this.answers.size > mostAnswers || isOld(at, now)) this.answers.delete(id);
    }
  }

  #forgetBegun(now: number): void {
    for (const [id, { at }] of this.begun) if (this.begun.size > MOST_BEGUN || isOld(at, now)) this.begun.delete(id);
  }
}
