import { useMemo } from 'preact/hooks';
import { now } from '../base/clock.ts';
import { WEBHOOK_SETTINGS } from '../base/contract.ts';
import { type Child, div, p, use } from '../base/elements.ts';
import { counted } from '../base/format.ts';
import type { Outcome } from '../base/newest.ts';
import { ROLE } from '../base/place.ts';
import { operation, send } from '../base/requests.ts';
import { deliveriesSent } from '../base/sent-deliveries.ts';
import { toServiceTime } from '../base/service-time.ts';
import { given, typed } from '../base/typed.ts';
import { behindPresent, fromField, toField, zoneName } from '../base/zone.ts';
import { ask } from '../parts/dialog.ts';
import { choice, textField } from '../parts/fields.ts';
import { useFormCount } from '../parts/form-count.ts';

/** The states of a delivery. */
export const STATES = ['pending', 'delivered', 'exhausted', 'gone'] as const;

const DAY_MS = 86_400_000;

const deliveries = (many: number): string => counted(many, 'delivery', 'deliveries');

/** Sends the deliveries of a range again, or only counts them. Returns their number. */
async function redeliver(
  applicationId: string,
  data: FormData,
  { dryRun, signal }: { dryRun?: true; signal?: AbortSignal } = {},
): Promise<number> {
  const time = (name: string): string => {
    const at = fromField(typed(data, name) ?? '');
    if (Number.isNaN(at)) throw new Error('Enter both times.');
    return ROLE === 'operator' ? new Date(at).toISOString() : toServiceTime(at);
  };
  const json = given({
    since: time('since'),
    until: time('until'),
    status: typed(data, 'status'),
    setting: typed(data, 'setting'),
    dryRun,
  });
  const request = operation({ operator: 'redeliverSome', application: 'redeliverRange' }, { applicationId });
  const response = await send(request, { json, signal });
  return ((await response.json()) as { redelivered: number }).redelivered;
}

const wordsOf = (found: Outcome<number> | null): string => {
  if (found === null) return 'Counting the deliveries ...';
  if ('error' in found) return found.error.message;
  return found.value === 0 ? 'No delivery matches.' : `${deliveries(found.value)} will be sent again.`;
};

/** The fields for a range, and how many deliveries it has. */
function Range({ applicationId, setting }: { applicationId: string; setting: string | undefined }) {
  const { found, watched } = useFormCount((data, signal) => redeliver(applicationId, data, { dryRun: true, signal }));
  const began = useMemo(() => now.peek(), []);
  const [from, until] = [toField(began - DAY_MS), behindPresent(began)];
  const when = { type: 'datetime-local' } as const;
  return div(
    { class: 'fields', ...watched },
    textField({ name: 'since', label: `Created from (${zoneName()})`, value: from, required: true }, when),
    textField({ name: 'until', label: `Created before (${zoneName()})`, value: until, required: true }, when),
    choice({ name: 'status', label: 'State' }, [
      ['', 'undelivered (exhausted, gone, waiting for another attempt)'],
      ...STATES.map((state) => [state, state] as const),
    ]),
    choice({ name: 'setting', label: 'Setting', value: setting ?? '' }, [
      ['', 'all'],
      ...WEBHOOK_SETTINGS.map((one) => [one, one] as const),
    ]),
    p({ role: 'status', class: 'soft' }, wordsOf(found.value)),
  );
}

/**
 * Asks for a range of deliveries, those of one receiver if its setting is given, says how many they are, and sends them
 * again.
 */
export function redeliverRange(applicationId: string, setting?: string): void {
  const fields: Child = use(Range, { applicationId, setting });
  ask({
    title: `Send deliveries of ${applicationId} again`,
    text: 'Receivers recognize repeated deliveries by their webhook-id. By default all deliveries are sent that were given up or wait for another attempt.',
    fields,
    does: 'Send again',
    async act(data) {
      const many = await redeliver(applicationId, data);
      deliveriesSent();
      return `${deliveries(many)} sent again.`;
    },
  });
}
