import type { Timers } from '../timers.ts';
import { Breach, LeftOut, NotPlayed } from './breach.ts';
import type { CommandMaker } from './command-maker.ts';
import type { Contract } from './contract.ts';
import type { DeviceTestSettings } from './device-test-settings.ts';
import type { DriveFigures } from './drive.ts';
import type { FileHost } from './file-host.ts';
import type { PackageFile } from './package-files.ts';
import type { RuleName } from './rules.ts';
import type { ServiceEnd } from './service-end.ts';

/** All that a case needs: the service's end of the protocol, and the means to judge the device. */
export interface Stage {
  readonly settings: DeviceTestSettings;
  readonly service: ServiceEnd;
  readonly files: FileHost;
  readonly contract: Contract;
  readonly commands: CommandMaker;
  readonly timers: Timers;
  readonly nextPackage: () => PackageFile;
  /** The download URLs that the device gets when it asks for a fresh one, by transactionId. */
  readonly freshUrls: Map<number, Readonly<Record<string, unknown>>>;
  /** Operations that the device has answered with UNSUPPORTED. */
  readonly unsupported: Set<string>;
  /** Asks the person at the device to do something. */
  readonly ask: (text: string) => void;
  readonly stopped: AbortSignal;
  /** The figures of the drive, which the case `drive` counts. */
  readonly figures: DriveFigures;
}

export const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`;

/** Whether commands can be sent. */
export const isReady = ({ isOnline, subscriptions }: ServiceEnd): boolean => isOnline && subscriptions.has('commands');

/** Resolves when the device is connected and has subscribed. */
export async function connected(
  { service, settings, stopped }: Stage,
  { rule = 'reconnect-pauses' as RuleName, waitMs = settings.waitMs } = {},
): Promise<void> {
  if (await service.until(() => isReady(service), waitMs)) return;
  if (stopped.aborted) throw new NotPlayed('the test was interrupted');
  const missing = { isTimed: true };
  if (service.isOnline) throw new Breach('topics', 'a subscription to commands with QoS 1', 'none', missing);
  throw new Breach(rule, `a connection within ${seconds(waitMs)}`, 'none', missing);
}

/** Cuts the connection, and resolves when the device has connected again. */
export async function reconnected(stage: Stage): Promise<void> {
  stage.service.cut();
  await connected(stage);
}

export const isWanted = ({ settings }: Stage, operation: string): boolean => settings.operations.includes(operation);

/** Ends a case that needs an operation which this device does not have. */
export function need(stage: Stage, operation: string): void {
  if (!isWanted(stage, operation)) throw new LeftOut(`--operations does not name ${operation}`);
  if (stage.unsupported.has(operation)) throw new LeftOut(`the device answers ${operation} with UNSUPPORTED`);
}
