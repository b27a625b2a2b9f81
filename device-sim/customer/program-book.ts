import { aboutEvent, type CameEvent, contentOf, eventName } from './came-event.ts';
import { createIdMarks } from './id-marks.ts';
import type { Breached, Ledger } from './ledger.ts';
import { type Program, programName, wants } from './program.ts';
import { createProgramPage, type ProgramPage } from './program-page.ts';
import type { Note } from './story.ts';

/** The mark of an event that came to a URL of the settings; programs have the bits above. */
const SETTINGS = 1;

/** An event that some program has not got yet. */
interface Owed {
  readonly event: CameEvent;
  readonly about: Breached;
  /** The bits of the programs that should get it. */
  readonly wanted: number;
  /** Where it came first, and when. */
  readonly first: Note;
}

interface Marked {
  readonly page: ProgramPage;
  readonly bit: number;
}

/** The events that an endpoint has not got, and need not have got yet. */
export interface Waiting {
  /** Whether an event waits for its next attempt, or behind one that does, because the receiver has refused that one. */
  includes(sequence: number, deviceId: string): boolean;
  /** The state of the endpoint, as the service tells it, at the end of a sentence. */
  readonly told: string;
}

/** The events that the service owes each program of the customer, and those that have come. */
export interface ProgramBook {
  /** The books about one program. */
  of(name: string): ProgramPage;
  /** An event came to a URL of the settings (null), or to a program. `isAnswered`: the program has answered 2xx. */
  came(name: string | null, event: CameEvent, at: number, isAnswered?: boolean): void;
  /** How many events have not come to each program that should have got them. */
  owed(): ReadonlyMap<string, number>;
  /** Counts what has not come, except for events that wait. */
  judge(at: number, waiting: (name: string) => Waiting): void;
  /** A backup has taken the place of the data: numbers of devices come again, and younger events are gone. */
  restored(from: number): void;
}

/**
 * Keeps books about the events of the stream. An event may come to each program several times, with the same id and content. To
 * an ordered endpoint, and to a reader, it comes in order; and it comes to each program that wants its type.
 */
export function createProgramBook(
  programs: readonly Program[],
  ledger: Pick<Ledger, 'breached' | 'counted' | 'look' | 'presentPhase'>,
): ProgramBook {
  const { breached, counted, look, presentPhase } = ledger;
  const pages = new Map(
    programs.map((program, at): [string, Marked] => [
      program.name,
      { page: createProgramPage(program, ledger), bit: SETTINGS << (at + 1) },
    ]),
  );
  /** The programs that each event has come to, and a hash of its content, by its number. */
  const marks = createIdMarks();
  const contents = createIdMarks();
  const owed = new Map<number, Owed>();

  /** Compares an event with the same one as it came before. */
  function compare(event: CameEvent, sequence: number, where: string, at: number): void {
    const before = contents.of(sequence);
    const content = contentOf(event);
    contents.set(sequence, content);
    if (before === undefined) return;
    look('event-same');
    if (before === content) return;
    const text = `${eventName(event)} came to ${where} with another id, number or content than before, as ${event.eventId}`;
    breached('violations', aboutEvent(event), text, at);
  }

  function meet(event: CameEvent, sequence: number, where: string, at: number): void {
    let wanted = 0;
    for (const { page, bit } of pages.values())
      if (sequence > page.since && wants(page.program, event.type)) wanted |= bit;
    const first = { at, who: 'service', text: `sends ${eventName(event)} to ${where}` };
    owed.set(sequence, { event, wanted, first, about: { ...aboutEvent(event), phase: presentPhase() } });
  }

  /** The programs that have not got an event. */
  const lacking = (sequence: number, { wanted }: Owed): ProgramPage[] => {
    const left = wanted & ~(marks.of(sequence) ?? 0);
    return [...pages.values()].filter(({ bit }) => (left & bit) !== 0).map(({ page }) => page);
  };

  return {
    of: (name) => pages.get(name)!.page,
    came(name, event, at, isAnswered = true) {
      const { sequence } = event;
      if (sequence === undefined) return;
      const { page, bit = SETTINGS } = (name === null ? undefined : pages.get(name)) ?? {};
      const where = page ? programName(page.program) : 'the URL of its setting';
      compare(event, sequence, where, at);
      const before = marks.of(sequence) ?? 0;
      if (before === 0) meet(event, sequence, where, at);
      marks.set(sequence, before | bit);
      if (((owed.get(sequence)?.wanted ?? 0) & ~(before | bit)) === 0) owed.delete(sequence);
      if (!page) return;
      const isAgain = (before & bit) !== 0;
      if (before !== 0 && !isAgain) look(page.program.kind === 'consumer' ? 'stream-all' : 'endpoint-all');
      page.came({ ...event, sequence }, at, isAgain, isAnswered);
    },
    owed() {
      const counts = new Map<string, number>();
      for (const [sequence, one] of owed)
        for (const { program } of lacking(sequence, one)) counts.set(program.name, (counts.get(program.name) ?? 0) + 1);
      return counts;
    },
    judge(at, waiting) {
      const known = new Set<string>();
      const skipped = new Map<ProgramPage, Owed[]>();
      for (const [sequence, one] of owed) {
        const { event, about, first } = one;
        for (const page of lacking(sequence, one)) {
          const { name } = page.program;
          known.add(`${name} ${about.deviceId} ${event.deviceSequence}`);
          if (waiting(name).includes(sequence, about.deviceId)) continue;
          if (page.hasPassed(sequence)) {
            counted('customerLost', about.deviceId, about.phase);
            skipped.set(page, [...(skipped.get(page) ?? []), one]);
            continue;
          }
          const text = `${eventName(event)} never came to ${programName(page.program)}${waiting(name).told}`;
          breached('gaps', about, text, at, [first]);
        }
      }
      owed.clear();
      for (const [{ program }, those] of skipped) {
        const { event, about, first } = those[0]!;
        const text = `${programName(program)} moved its place past ${those.length} events without handling them, at first ${eventName(event)}; the service has done nothing wrong`;
        breached('programs', about, text, at, [first]);
      }
      for (const { page } of pages.values())
        for (const { about, number, behind } of page.holes()) {
          const { name } = page.program;
          if (known.has(`${name} ${about.deviceId} ${number}`)) continue;
          const text = `number ${number} of the events of the device never came to ${programName(page.program)}, which got later ones${waiting(name).told}`;
          breached('gaps', about, text, at, [behind]);
        }
    },
    restored(from) {
      for (const { page } of pages.values()) page.restored();
      for (const [sequence, { first }] of owed) if (first.at >= from) owed.delete(sequence);
    },
  };
}
