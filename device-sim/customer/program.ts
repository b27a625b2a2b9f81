/** A program of the customer that takes events, besides the receiver for the URLs of the settings. */
export type Program = EndpointProgram | ConsumerProgram;

interface Common {
  readonly name: string;
  /** The types of its events, as the API takes them; empty: all. */
  readonly types: readonly string[];
}

/** A receiver behind an endpoint. */
export interface EndpointProgram extends Common {
  readonly kind: 'endpoint';
  readonly isOrdered: boolean;
  /** The most new events in a second; null: no limit. */
  readonly ratePerSecond: number | null;
  readonly signatures: 'v1' | 'v1a';
}

/** A reader of the stream, whose place the service keeps. */
export interface ConsumerProgram extends Common {
  readonly kind: 'consumer';
  /** The number of events that it handles before it looks for its place again. */
  readonly page: number;
}

/** The faults of such programs. The service cannot know of them. */
export const PROGRAM_FAULTS = {
  forgets: {
    of: 'endpoint',
    about:
      'the receiver of the endpoint answers before it stores, and crashes: it loses the event that comes then, and those of the last second',
  },
  skips: {
    of: 'consumer',
    about: 'the program moves its place past the next events, up to three, without handling them',
  },
  'goes-back': {
    of: 'consumer',
    about: 'the program loses its place, and begins again where it was at the start of the run',
  },
  jumps: {
    of: 'consumer',
    about: 'the program is away for two seconds, loses its place, and begins again behind the newest event',
  },
} as const satisfies Record<string, { of: Program['kind']; about: string }>;

export type ProgramFault = keyof typeof PROGRAM_FAULTS;

/** One fault of a program in a phase. */
export interface PlannedProgramFault {
  readonly fault: ProgramFault;
  readonly program: string;
  /** Milliseconds from the beginning of the phase. */
  readonly after: number;
}

/** The name of a program in sentences. */
export const programName = (program: Program): string =>
  program.kind === 'endpoint'
    ? `the ${program.isOrdered ? 'ordered ' : ''}endpoint ${program.name}`
    : `the consumer ${program.name}`;

const isOf = (type: string, wanted: string): boolean =>
  wanted.endsWith('.*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted;

/** Whether a program should get events of a type. An endpoint gets test events only if it asks for them. */
export function wants({ kind, types }: Program, type: string): boolean {
  if (kind === 'endpoint' && type === 'test') return types.includes('test');
  return types.length === 0 || types.some((wanted) => isOf(type, wanted));
}
