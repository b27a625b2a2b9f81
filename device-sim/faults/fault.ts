import type { Range } from '../random.ts';

/**
 * The moment at which a fault can happen: when a device handles a command, connects, downloads, uploads or sends an
 * event.
 */
type FaultOccasion = 'command' | 'connection' | 'download' | 'upload' | 'event';
/**
 * The kinds of moments at which the seed decides: about a fault, or about how long a device stays online or offline.
 */
export type OccasionKind = FaultOccasion | 'absence';

interface FaultTrait {
  readonly occasion: FaultOccasion;
  /** The fault happens only at commands that name a file. */
  readonly files?: true;
  /** The fault happens only at commands of these operations. */
  readonly operations?: readonly string[];
  /** The default of the rule's `delay`, in milliseconds. A fault without a default has no duration. */
  readonly delay?: Range;
  readonly about: string;
}

/** Every fault that a device can have. */
export const FAULTS = {
  fails: { occasion: 'command', about: 'the device answers the command with the failure INTERNAL' },
  'never-answers': { occasion: 'command', about: 'the device carries out the command and never answers it' },
  'answers-late': { occasion: 'command', delay: { min: 2000, max: 10_000 }, about: 'the device answers after `delay`' },
  'answers-twice': { occasion: 'command', about: 'the device sends the answer twice' },
  'answers-in-wrong-order': {
    occasion: 'command',
    delay: { min: 500, max: 2000 },
    about: 'the device answers only after it has answered a later command, but after `delay` at the latest',
  },
  'answers-before-puback': {
    occasion: 'command',
    about: 'the device sends the answer before the PUBACK of the command',
  },
  'half-open': {
    occasion: 'command',
    delay: { min: 1000, max: 5000 },
    about: 'the socket stays open, but the device neither reads nor writes; after `delay` it connects again',
  },
  'breaks-off-install': {
    occasion: 'command',
    files: true,
    delay: { min: 1000, max: 5000 },
    about: 'the device restarts during the download; it is back after `delay`, and begins the install again',
  },
  'reboots-and-forgets': {
    occasion: 'command',
    delay: { min: 500, max: 3000 },
    about:
      'the device restarts instead of answering; it is back after `delay`, and has forgotten all commands and answers',
  },
  'bad-payload': { occasion: 'command', about: 'the device sends three unreadable messages before the answer' },
  'unknown-fields': {
    occasion: 'command',
    about: 'the answer has unknown members, and a wrong value in an optional one',
  },
  'storage-full': { occasion: 'command', files: true, about: 'the device answers the install with STORAGE_FULL' },
  'signature-rejected': {
    occasion: 'command',
    files: true,
    about: 'the device answers the install with SIGNATURE_REJECTED, as if it trusted another key',
  },
  'battery-low': {
    occasion: 'command',
    about: 'the device reports a battery of 5 %, also as an event, and answers an install with a failure',
  },
  'battery-flat': {
    occasion: 'command',
    delay: { min: 2000, max: 10_000 },
    about: 'the device switches off before it begins the command, and is back after `delay`',
  },
  bricks: {
    occasion: 'command',
    files: true,
    delay: { min: 86_400_000, max: 86_400_000 },
    about:
      'the device does not start again after the installation, whatever its network does: it is back after `delay`, by default a day',
  },
  'silent-after': {
    occasion: 'command',
    files: true,
    delay: { min: 60_000, max: 600_000 },
    about: 'the installation succeeds; after `delay` the device does not start any more',
  },
  'reboots-after': {
    occasion: 'command',
    files: true,
    delay: { min: 300_000, max: 600_000 },
    about: 'the installation succeeds; from then on the device restarts each `delay`, and is off for 20 s',
  },
  'reconnects-after': {
    occasion: 'command',
    files: true,
    delay: { min: 30_000, max: 120_000 },
    about: 'the installation succeeds; from then on the device loses its connection each `delay`',
  },
  'crashes-after': {
    occasion: 'command',
    files: true,
    delay: { min: 300_000, max: 900_000 },
    about: 'the installation succeeds; from then on the device reports the event `custom.crash` each `delay`',
  },
  'drains-after': {
    occasion: 'command',
    files: true,
    delay: { min: 7_200_000, max: 14_400_000 },
    about: 'the installation succeeds; from then on the battery is empty after `delay`',
  },
  'fills-storage-after': {
    occasion: 'command',
    files: true,
    delay: { min: 14_400_000, max: 43_200_000 },
    about: 'the installation succeeds; from then on the storage is full after `delay`',
  },
  'loses-its-wifi': {
    occasion: 'command',
    operations: ['setWifi'],
    delay: { min: 86_400_000, max: 86_400_000 },
    about:
      'the networks of the command do not reach the service: the device answers, and is away for `delay`, by default a day; with `revertAfter` it takes its former networks again after that time, and answers REVERTED',
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
  'download-wrong-bytes': { occasion: 'download', about: 'one byte of the file changes on the way' },
  'upload-url-expired': {
    occasion: 'upload',
    about: 'the upload URL has expired, and the device asks for a new one',
  },
  'clock-wrong': { occasion: 'event', about: 'the device reports the event with a time of a day ago, or of tomorrow' },
} as const satisfies Record<string, FaultTrait>;

/** Commands that name a file. */
export const FILE_OPERATIONS: readonly string[] = ['installSoftware', 'updateFirmware'];

export type FaultKind = keyof typeof FAULTS;

export const traitOf = (kind: FaultKind): FaultTrait => FAULTS[kind];

/** Which devices have a fault, and how often. */
export interface FaultRule {
  readonly fault: FaultKind;
  /** Probability from 0 to 1, at each occasion of the fault. */
  readonly probability: number;
  /** The fault happens only at commands of these operations. */
  readonly operations?: readonly string[];
  /**
   * The fault happens only at commands that install one of these versions. A version is bad for a device or not, so the
   * decision is the same at each attempt.
   */
  readonly versions?: readonly string[];
  /** The code of the failure; by default INTERNAL. */
  readonly code?: string;
  /** Milliseconds. */
  readonly delay?: Range;
  /**
   * The fault happens only in these phases. A command belongs to the phase of the action that caused it; everything else
   * belongs to the current phase.
   */
  readonly phases?: readonly string[];
}

/**
 * A moment at which a fault may happen to a device. Two runs name it alike, because its name does not depend on
 * durations; so both take the same decision.
 */
export interface Occasion {
  readonly kind: OccasionKind;
  /**
   * For a command, the number of the action that caused it, if one did. Otherwise how often this kind of moment (and
   * this operation) has come on the device.
   */
  readonly key: number | string;
  readonly operation?: string | undefined;
  /** The version that the command installs. */
  readonly version?: string | undefined;
  readonly phase?: string | undefined;
}

/** A fault that happens to a device. */
export interface Fault {
  readonly kind: FaultKind;
  /** Milliseconds; 0 for faults that take no time. */
  readonly delay: number;
  /** The code of the failure, if the rule names one. */
  readonly code?: string;
}
