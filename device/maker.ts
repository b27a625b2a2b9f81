import type { ListKind, LogLevel } from './core/effects.ts';
import type { RunningCommand } from './running-command.ts';

/** Carries out a command. The returned object is the result, if the operation has one; see schemas/mqtt/results. */
export type Operation =
  | ((command: RunningCommand) => object | undefined | Promise<object | undefined>)
  | ((command: RunningCommand) => void);

/** The part of a device that its maker writes. */
export interface Maker {
  /**
   * By name, as schemas/mqtt/command.json has them; all others are answered `UNSUPPORTED` (rule `unknown-parts`). They are
   * called one after another, each command once. One that throws a `DeviceFailure` fails with its code; any other error is
   * `INTERNAL`. A command in which the power was cut is called again, with `interrupted`.
   */
  operations: Readonly<Record<string, Operation>>;
  /**
   * The device uses this list of Wi-Fi networks (`networks`) or access points (`apns`) from now on. Called at the start with
   * each list that is stored, and at each change; the library carries out `setWifi` and `setApn`, and their trials.
   */
  useNetworks?(kind: ListKind, list: readonly unknown[]): void;
  /** The network that a new connection goes over; undefined if the device does not know. */
  networkInUse?(): ListKind | undefined;
  /** The device has logged in, or has lost its connection. */
  connection?(isConnected: boolean): void;
  /** Without it, warnings and errors go to the standard error. */
  log?(level: LogLevel, text: string): void;
}
