import { OF, tagTermsOf } from './rollout-request.ts';
import type { DeviceSelector } from './rows.ts';
import { given } from './typed.ts';

/** Turns the filters of an application's list of devices into a selector, and into the fields of a new rollout. */

type Query = Readonly<Record<string, string | undefined>>;

/** The filters of the list that selectors do not have, with their names on the page. */
const UNFIT: Readonly<Record<string, string>> = {
  prefix: 'the filter for the deviceId',
  batteryBelow: 'the filter for the battery',
  batteryFrom: 'the filter for the battery',
  notSeenFor: 'the filter "Not seen for"',
};

/** The filters for which there is no selector; a list that has one of them cannot be tagged or rolled out to as a whole. */
export function unfitFor(query: Query): string[] {
  const { activation = 'activated' } = query;
  const words = Object.entries(UNFIT).flatMap(([name, word]) => (query[name] === undefined ? [] : [word]));
  return [...new Set([...words, ...(activation === 'activated' ? [] : ['the filter for the activation'])])];
}

/** The selector of the devices in the list. An application's list and its selectors have activated devices only. */
export const listSelector = ({ tag, connected, firmware, package: name, version }: Query): DeviceSelector =>
  given({
    tags: tag === undefined ? undefined : tagTermsOf(tag),
    connected: connected === undefined ? undefined : connected === 'true',
    firmwareVersion: firmware,
    package: name,
    version,
  }) as DeviceSelector;

/** The fields of a new rollout for the devices in the list, as the parameters of its page. */
export const fieldsOf = ({ tag, connected, firmware, package: name, version }: Query): Query =>
  given({
    [OF.tags]: tag,
    [OF.connected]: connected,
    [OF.package]: name,
    ...(version !== undefined && { [OF.versionIs]: 'version', [OF.version]: version }),
    ...(firmware !== undefined && { [OF.firmwareIs]: 'firmwareVersion', [OF.firmware]: firmware }),
  });
