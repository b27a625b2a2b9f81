import { openAdministration, openApplication } from '../account/access.ts';
import type { Given } from '../line/command-line.ts';
import type { Terminal } from '../show/terminal.ts';
import { type Accounts, needsOf } from './plan/make-plan.ts';
import type { Configuration } from './read/configuration.ts';

/** Opens the accounts that a configuration needs, and no other: most people have no token of an administrator. */
export async function openAccounts(configuration: Configuration, given: Given, terminal: Terminal): Promise<Accounts> {
  const needs = needsOf(configuration);
  return {
    application: needs.application ? await openApplication(given, terminal) : null,
    administration: needs.administration ? await openAdministration(given, terminal) : null,
  };
}
