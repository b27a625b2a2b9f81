import type { Range } from '../random.ts';

/** What a fault befalls: a command that came, a connection that is made, a file that is loaded, an event that is told. */
type FaultOccasion = 'command' | 'connection' | 'download' | 'upload' | 'event';
/** What is decided about: that, and how long a device stays and is away. */
export type OccasionKind = FaultOccasion | 'absence';

interface FaultTrait {
  readonly occasion: FaultOccasion;
  /** Only commands that name a file. */
  readonly files?: true;
  /** Milliseconds of `delay` without a word about it; without this a fault takes no time. */
  readonly delay?: Range;
  readonly about: string;
}

/** Every fault that a device can have. */
export const FAULTS = {
  fails: { occasion: 'command', about: 'the command is answered with the failure INTERNAL' },
  'never-answers': { occasion: 'command', about: 'the command is done and never answered' },
  'answers-late': { occasion: 'command', delay: { min: 2000, max: 10_000 }, about: 'the answer waits for `delay`' },
  'answers-twice': { occasion: 'command', about: 'the answer is sent twice' },
  'answers-in-wrong-order': {
    occasion: 'command',
    delay: { min: 500, max: 2000 },
    about: 'the answer waits until a later command was answered, `delay` at most',
  },
  'answers-before-puback': { occasion: 'command', about: 'the answer goes out before the PUBACK of its command' },
  'half-open': {
    occasion: 'command',
    delay: { min: 1000, max: 5000 },
    about: 'the socket stays, and nothing is read or written any more; after `delay` the device connects anew',
  },
  'breaks-off-install': {
    occasion: 'command',
    files: true,
    delay: { min: 1000, max: 5000 },
    about: 'the device goes down during the download, is up after `delay`, and begins the install again',
  },
  'reboots-and-forgets': {
    occasion: 'command',
    delay: { min: 500, max: 3000 },
    about:
      'the device goes down before its answer is out, and knows nothing of the command when it is back after `delay`',
  },
  'bad-payload': { occasion: 'command', about: 'three messages that nobody can read go out before the answer' },
  'unknown-fields': {
    occasion: 'command',
    about: 'the answer has members that nobody knows, and an optional one that is wrong',
  },
  'storage-full': { occasion: 'command', files: true, about: 'the install is answered with STORAGE_FULL' },
  'battery-low': {
    occasion: 'command',
    about: 'the device reports 5 % and says so in an event; an install is answered with a failure',
  },
  'battery-flat': {
    occasion: 'command',
    delay: { min: 2000, max: 10_000 },
    about: 'the device goes off before it begins the command, and is back after `delay`',
  },
  'slow-reader': {
    occasion: 'connection',
    delay: { min: 2000, max: 10_000 },
    about: 'the device reads 200 bytes a second for `delay`',
  },
  'wrong-credential': { occasion: 'connection', about: 'the device logs in with a wrong credential first' },
  'two-with-one-identity': {
    occasion: 'connection',
    delay: { min: 500, max: 2000 },
    about: 'another client with the credential of the device connects after `delay`, and takes over',
  },
  'download-cut': { occasion: 'download', about: 'the connection breaks in the middle of the file' },
  'download-wrong-bytes': { occasion: 'download', about: 'a byte of the file is another one on the way' },
  'upload-url-expired': {
    occasion: 'upload',
    about: 'the upload URL is refused as too old, and a new one is asked for',
  },
  'clock-wrong': { occasion: 'event', about: 'the device says that it happened a day ago, or tomorrow' },
} as const satisfies Record<string, FaultTrait>;

/** Commands that name a file. */
export const FILE_OPERATIONS: readonly string[] = ['installSoftware', 'updateFirmware'];

export type FaultKind = keyof typeof FAULTS;

export const isFaultKind = (text: string): text is FaultKind => Object.hasOwn(FAULTS, text);
export const traitOf = (kind: FaultKind): FaultTrait => FAULTS[kind];

/** Who is hit, how often. */
export interface FaultRule {
  readonly fault: FaultKind;
  /** 0 to 1, at each of its occasions. */
  readonly probability: number;
  /** Only at commands of these operations. */
  readonly operations?: readonly string[];
  /** Milliseconds. */
  readonly delay?: Range;
  /** Only in these phases: of a command that an action of the run has caused, that of the action; else the one that is on. */
  readonly phases?: readonly string[];
}

/** Something that a fault may befall. Which one it is does not depend on the time that anything takes. */
export interface Occasion {
  readonly kind: OccasionKind;
  /** Of a command the number of the action that caused it, where that is known; else the how manyeth of its kind (and operation) on its device. */
  readonly key: number | string;
  readonly operation?: string | undefined;
  readonly phase?: string | undefined;
}

/** What befalls a device. */
export interface Fault {
  readonly kind: FaultKind;
  /** Milliseconds; 0 for those that take no time. */
  readonly delay: number;
}
