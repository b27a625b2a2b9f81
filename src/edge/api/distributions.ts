import type { DistributionStarted, DistributionStatus } from '@lapel/schemas/contracts/types';
import { distributionDate } from '../../core/software/distribution-date.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtVersion } from './services.ts';
import { versionUri } from './versions.ts';

type Services = Pick<ApiServices, 'software' | 'deprecations' | 'formatTime'>;

/** Reads whether a version is distributed (op 25). */
export async function readDistribution(
  { software, deprecations, formatTime }: Services,
  { params, caller, baseUrl }: AtVersion,
): Promise<Answer> {
  const startedAt = await software.distributions.startedAt(caller.developerId, params);
  const distributable = startedAt !== null;
  const body: DistributionStatus = {
    distributable,
    ...(deprecations.serves('exist') && { exist: distributable }),
    ...(startedAt !== null && { distributionDate: distributionDate(startedAt, formatTime) }),
  };
  return { status: 200, headers: deprecations.serves('exist') ? deprecations.headers('exist', baseUrl) : {}, body };
}

/** Starts the distribution of a version (op 26). */
export async function startDistribution(
  { software, formatTime }: Services,
  { params, caller, baseUrl }: AtVersion,
): Promise<Answer> {
  const startedAt = await software.distributions.start(caller, params);
  const body: DistributionStarted = {
    package: params.package,
    version: params.version,
    distributable: true,
    distributionDate: distributionDate(startedAt, formatTime),
  };
  return { status: 201, headers: { Location: `${versionUri({ params, baseUrl })}/distributions` }, body };
}

/** Stops the distribution of a version (op 27). */
export async function stopDistribution({ software }: Services, { params, caller }: AtVersion): Promise<Answer> {
  await software.distributions.stop(caller.developerId, params);
  return { status: 204 };
}
