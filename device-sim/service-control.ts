import type { RunSettings } from './command-line.ts';
import type { Scenario } from './scenario/scenario.ts';
import { faultCommand } from './service/fault-command.ts';
import { startOwnService } from './service/own-service.ts';
import type { ServiceControl } from './service/service-fault.ts';
import type { Timers } from './timers.ts';
import { UsageError } from './usage-error.ts';

const faultsOf = ({ phases }: Scenario) => phases.flatMap(({ service }) => service);

/**
 * Starts the service if the user gave commands for it, or prepares the command that makes it fail; null without both.
 * Throws a UsageError if the scenario has faults of the service that cannot be played.
 */
export function serviceControl(
  { scenario, shard, service: { commands, faultCommand: given }, reportFolder }: RunSettings,
  { timers, stopped }: { timers: Timers; stopped: AbortSignal },
): ServiceControl | null {
  const faults = faultsOf(scenario);
  // The other processes would not know that the service fails on purpose, and would blame it.
  if (faults.length > 0 && shard)
    throw new UsageError('--shard', 'cannot be used with a scenario that has faults of the service');
  if (faults.length > 0 && commands.length === 0 && given === undefined)
    throw new UsageError('--service', 'or --service-fault is needed, because the scenario has faults of the service');
  const highest = Math.max(0, ...faults.map(({ node }) => node ?? 0));
  if (commands.length > 0 && highest > commands.length) {
    const times = commands.length === 1 ? 'once' : `${commands.length} times`;
    throw new UsageError('--service', `is given ${times}, but the scenario has a fault of node ${highest}`);
  }
  if (commands.length > 0) return startOwnService(commands, { folder: reportFolder, timers, stopped });
  return given === undefined ? null : faultCommand(given, stopped);
}
