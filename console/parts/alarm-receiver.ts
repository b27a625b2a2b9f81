import { button, type Child, div, span, use, type VNode } from '../base/elements.ts';
import { useLoad } from '../base/load.ts';
import { operation, read, send } from '../base/requests.ts';
import type { AlarmReceiver } from '../base/rows.ts';
import { permits } from '../base/session.ts';
import { act } from './dialog.ts';
import { loaded } from './loaded.ts';
import { age, badge, card, said } from './show.ts';

const lastOf = ({ lastAttempt: last }: AlarmReceiver): Child =>
  last === null
    ? span({ class: 'soft' }, 'nothing was sent by this node yet')
    : last.error === null
      ? [badge('good', 'taken'), span({ class: 'soft' }, age(last.at))]
      : [badge('bad', 'not taken'), said(last.error), span({ class: 'soft' }, age(last.at))];

function Receiver(): Child {
  const receiver = useLoad(
    'alarm receiver',
    (signal) => read<AlarmReceiver>(operation('readAlarmReceiver'), { signal }),
    { every: 30_000 },
  );
  const test = (): void =>
    act(async () => {
      const { lastAttempt } = (await (await send(operation('testAlarmReceiver'))).json()) as AlarmReceiver;
      receiver.again();
      return lastAttempt?.error ? `The receiver has not taken it: ${lastAttempt.error}.` : 'The receiver has taken it.';
    });
  return card(
    { title: 'Receiver of alarms' },
    loaded(receiver, (one) =>
      one.host === null
        ? span({ class: 'soft' }, 'Alarms stay in the console: LAPEL_ALARM_URL is not set.')
        : div(
            { class: 'row' },
            said(one.host),
            one.isSigned ? badge('', 'signed') : null,
            lastOf(one),
            permits('testAlarmReceiver')
              ? button({ type: 'button', class: 'tiny', onClick: test }, 'Send a test')
              : null,
          ),
    ),
  );
}

/** The receiver of alarms outside of the console, with a button that sends a test. */
export const alarmReceiverCard = (): VNode => use(Receiver, {});
