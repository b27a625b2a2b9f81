import type { Administration, Application } from '../../account/access.ts';
import { Failure } from '../../show/failure.ts';
import type { Terminal } from '../../show/terminal.ts';
import { planDevelopers } from '../kinds/developers.ts';
import { planEndpoints } from '../kinds/endpoints.ts';
import { planPackages } from '../kinds/packages.ts';
import { planPeople } from '../kinds/people.ts';
import { planRollouts } from '../kinds/rollouts.ts';
import { planSettings } from '../kinds/settings.ts';
import { planTags } from '../kinds/tags.ts';
import type { Configuration } from '../read/configuration.ts';
import type { ApplicationContext } from './context.ts';
import { type Finding, type Plan, planOf } from './plan.ts';

/** The accounts that a configuration needs; null for one that it does not need. */
export interface Accounts {
  application: Application | null;
  administration: Administration | null;
}

/** Whether a configuration has objects of an application, and objects of administration. */
export function needsOf(all: Configuration): { application: boolean; administration: boolean } {
  const { settings, endpoints, tags, packages, rollouts, developers, people, exclusive } = all;
  const some = (...lists: readonly (readonly unknown[])[]): boolean => lists.some((list) => list.length > 0);
  return {
    application: some(settings, endpoints, tags, packages, rollouts) || exclusive.size > 0,
    administration: some(developers, people),
  };
}

/** In the order of dependency: an object is made before those that need it. */
const OF_APPLICATION: readonly ((context: ApplicationContext) => Promise<Finding[]>)[] = [
  planSettings,
  planEndpoints,
  planPackages,
  planTags,
  planRollouts,
];

/** Compares a configuration with what is there. Reads only. Throws a Failure. */
export async function makePlan(
  configuration: Configuration,
  { application, administration }: Accounts,
  terminal: Terminal,
): Promise<Plan> {
  const findings: Finding[] = [];
  if (administration) {
    findings.push(...(await planDevelopers({ administration, configuration })));
    findings.push(...(await planPeople({ administration, configuration })));
  }
  if (application) {
    const named = configuration.application;
    if (named !== undefined && named !== application.applicationId)
      throw new Failure(
        `the files are for the application ${named}, and the account is of ${application.applicationId}`,
      );
    for (const compare of OF_APPLICATION) findings.push(...(await compare({ application, configuration, terminal })));
  }
  return planOf(findings);
}
