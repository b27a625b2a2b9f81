import type { Child } from '../base/elements.ts';
import { a } from '../base/elements.ts';
import { addressOf, place, ROLE } from '../base/place.ts';
import { head } from '../parts/head.ts';
import { empty } from '../parts/show.ts';
import { actionDevicesPage } from './action-devices.ts';
import { applicationPage } from './application.ts';
import { auditPage } from './audit.ts';
import { cohortsPage } from './cohorts.ts';
import { deliveryPage } from './delivery.ts';
import { developerPage } from './developer.ts';
import { developersPage } from './developers.ts';
import { devicePage } from './device.ts';
import { deviceActionPage } from './device-action.ts';
import { deviceActionsPage } from './device-actions.ts';
import { devicesPage } from './devices.ts';
import { endpointPage } from './endpoint.ts';
import { endpointsPage } from './endpoints.ts';
import { enrolmentBatchPage } from './enrolment-batch.ts';
import { enrolmentBatchesPage } from './enrolment-batches.ts';
import { eventsPage } from './events.ts';
import { failuresPage } from './failures.ts';
import { healthPage } from './health.ts';
import { membersPage } from './members.ts';
import { newRolloutPage } from './new-rollout.ts';
import { overviewPage } from './overview.ts';
import { ownAuditPage } from './own-audit.ts';
import { packagePage } from './package.ts';
import { peoplePage } from './people.ts';
import { personPage } from './person.ts';
import { removalPage } from './removal.ts';
import { rolloutPage } from './rollout.ts';
import { rolloutDevicesPage } from './rollout-devices.ts';
import { rolloutsPage } from './rollouts.ts';
import { serviceSettingsPage } from './service-settings.ts';
import { settingsPage } from './settings.ts';
import { signaturePage } from './signature.ts';
import { softwarePage } from './software.ts';
import { startPage } from './start.ts';
import { transactionPage } from './transaction.ts';
import { transactionsPage } from './transactions.ts';
import { webhooksPage } from './webhooks.ts';

type Show = (...segments: string[]) => Child;

const notFound = (): Child => [
  head({ title: 'Page not found' }),
  empty(
    { title: 'There is no page at this address', text: 'The address may be mistyped, or belong to another release.' },
    a({ class: 'button', href: addressOf([]) }, 'Go to the first page'),
  ),
];

const partOfRollout: Show = (rolloutId, part) => (part === 'devices' ? rolloutDevicesPage(rolloutId!) : notFound());

/**
 * The pages by the first segment of their address. An entry lists the pages for 0, 1 and 2 further segments: a list,
 * one object of it, and a part of the object.
 */
const EVERYBODY: Readonly<Record<string, readonly (Show | undefined)[]>> = {
  devices: [devicesPage, devicePage],
  transactions: [transactionsPage, transactionPage],
  rollouts: [rolloutsPage, rolloutPage, partOfRollout],
  webhooks: [webhooksPage, undefined, deliveryPage],
  software: [softwarePage, packagePage],
  signature: [signaturePage],
};
const OPERATOR: typeof EVERYBODY = {
  ...EVERYBODY,
  '': [overviewPage],
  developers: [
    developersPage,
    developerPage,
    (developerId, part) => (part === 'enrolment' ? enrolmentBatchesPage(developerId!) : notFound()),
  ],
  enrolment: [undefined, enrolmentBatchPage],
  applications: [undefined, applicationPage],
  people: [peoplePage, personPage],
  removals: [undefined, removalPage],
  'device-actions': [
    deviceActionsPage,
    deviceActionPage,
    (actionId, part) => (part === 'devices' ? actionDevicesPage(actionId!) : notFound()),
  ],
  audit: [auditPage],
  failures: [failuresPage],
  cohorts: [cohortsPage],
  health: [healthPage],
  settings: [serviceSettingsPage],
};
const APPLICATION: typeof EVERYBODY = {
  ...EVERYBODY,
  '': [startPage],
  rollouts: [rolloutsPage, (id) => (id === 'new' ? newRolloutPage() : rolloutPage(id!)), partOfRollout],
  endpoints: [endpointsPage, endpointPage],
  events: [eventsPage],
  settings: [settingsPage],
  audit: [ownAuditPage],
  people: [membersPage],
};

/** Finds the page for the current address. */
export function pageOf(): Child {
  const [first = '', ...others] = place.value.path;
  const show = (ROLE === 'operator' ? OPERATOR : APPLICATION)[first]?.[others.length];
  return show ? show(...others) : notFound();
}
