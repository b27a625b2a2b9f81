import type { KeyObject } from 'node:crypto';
import type { DriveSettings } from './drive.ts';
import type { Transport } from './entrance.ts';
import type { Account } from './login.ts';
import type { Pair } from './own-authority.ts';

/** The settings of a test of a device. */
export interface DeviceTestSettings {
  readonly transport: Transport;
  /** The certificate of the service; null: the test makes one, if the transport uses TLS. */
  readonly serverPair: Pair | null;
  /** The CA of client certificates; null: the test makes one, and a certificate for the device. */
  readonly clientCa: Buffer | null;
  /** The folder of the certificates that the test makes; null: a temporary one. */
  readonly certificateFolder: string | null;
  readonly listen: { readonly host: string; readonly port: number };
  readonly filesListen: { readonly host: string; readonly port: number };
  /** The host at which the device reaches this machine. */
  readonly publicHost: string;
  readonly account: Account;
  readonly seed: number;
  /** The operations that are sent to the device. */
  readonly operations: readonly string[];
  /** The names of the cases to play. */
  readonly cases: readonly string[];
  /** How long to wait for a connection of the device, and for an answer, in milliseconds. */
  readonly waitMs: number;
  readonly answerMs: number;
  /** How long to wait for the hand of a person, in milliseconds; null: cases that need it are left out. */
  readonly byHandMs: number | null;
  /** A command that restarts the device; null: a person does it. */
  readonly restartCommand: string | null;
  /** The drive with the network of a moving car; null: there is none. */
  readonly drive: DriveSettings | null;
  /** Whether cases that take minutes on a slow device are played as well. */
  readonly isThorough: boolean;
  /** Lists with which the device reaches this machine, as parameters of the commands. */
  readonly networks: { readonly setWifi: Record<string, unknown>; readonly setApn: Record<string, unknown> };
  /** Seconds after which the device takes its former list of networks again. */
  readonly revertAfter: number;
  readonly json: boolean;
  /** The private key whose public key the device trusts; null: the device verifies no signatures. */
  readonly signingKey: KeyObject | null;
  readonly junitFile: string | undefined;
}
