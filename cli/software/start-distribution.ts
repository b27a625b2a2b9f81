import type { Application } from '../account/access.ts';
import { Failure } from '../show/failure.ts';

export type Distribution = 'started' | 'already started' | 'not started';

/** Starts the distribution (op 26); one that was already started is fine, too. */
export async function startDistribution(
  application: Application,
  software: { package: string; version: string },
): Promise<Distribution> {
  const what = `start the distribution of ${software.package} ${software.version}`;
  try {
    await application.call(what, (lapel) => lapel.startDistribution(software));
    return 'started';
  } catch (error) {
    if (error instanceof Failure && error.refusal?.status === 409) return 'already started';
    throw error;
  }
}
