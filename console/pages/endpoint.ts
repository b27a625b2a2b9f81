import { useSignal } from '@preact/signals';
import { a, button, type Child, div, dl, p, use, type VNode } from '../base/elements.ts';
import { endpointName, endpointWords, events } from '../base/endpoint-words.ts';
import { readEndpoint, readEndpointDeliveries } from '../base/endpoints.ts';
import { counted, duration } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import type { Endpoint } from '../base/rows.ts';
import { mayChange } from '../base/session.ts';
import { addressOfEvent, deliveriesOf, deliveryState } from '../parts/endpoint-deliveries.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { age, badge, card, fact, id, idLink, nothing, outside, said } from '../parts/show.ts';
import { shareBar } from '../parts/success-bar.ts';
import { rowsTable } from '../parts/table.ts';
import {
  changeEndpoint,
  disableEndpoint,
  enableEndpoint,
  removeEndpoint,
  replaceKey,
  skipEvent,
} from './endpoint-actions.ts';
import { replayCard, startReplay } from './endpoint-replay.ts';
import { testEndpoint } from './endpoint-test.ts';

/** Milliseconds after which the state is read again, without and with a replay. */
const EVERY_MS = 5_000;
const REPLAY_MS = 1_000;
/** The most deliveries among which the events are looked for that block others. */
const MOST_BLOCKERS = 1_000;
/** The most blocked devices that the service lists. */
const MOST_LISTED = 100;

function actions(endpoint: Endpoint, done: () => void): Child {
  if (!mayChange('application')) return null;
  const one = (words: string, act: (endpoint: Endpoint, done: () => void) => void, looks = ''): Child =>
    button({ type: 'button', class: looks, key: words, onClick: () => act(endpoint, done) }, words);
  return [
    endpoint.enabled ? one('Send a test event', testEndpoint, 'main') : one('Enable', enableEndpoint, 'main'),
    one('Change', changeEndpoint),
    endpoint.enabled && endpoint.replay === null ? one('Replay', startReplay) : null,
    one('New secret', replaceKey),
    endpoint.enabled ? one('Disable', disableEndpoint) : null,
    one('Remove', removeEndpoint, 'bad'),
  ];
}

function stateCard(endpoint: Endpoint): VNode {
  const { state, passedOver } = endpoint;
  const none = (value: number): Child => (value === 0 ? 'none' : events(value));
  const waiting = (status: 'pending' | 'blocked'): Child =>
    state[status] === 0
      ? 'none'
      : a({ href: addressOf(['endpoints', endpoint.endpointId], { status }) }, events(state[status]));
  return card(
    { title: 'State', bare: true },
    dl(
      { class: 'facts' },
      fact('Now', said(endpointWords(endpoint).sentence)),
      fact('Last 24 hours', shareBar(state)),
      fact('Behind', state.seconds === 0 ? 'not at all' : duration(state.seconds * 1_000)),
      fact('Not taken yet', none(state.behind)),
      fact('Pending', waiting('pending')),
      fact('Blocked', waiting('blocked')),
      passedOver === 0
        ? null
        : fact(
            'Passed over',
            `Some events up to number ${passedOver} were removed before it took them, because they were too old.`,
          ),
    ),
  );
}

const propertiesCard = (endpoint: Endpoint): VNode => {
  const { url, types, ordered, ratePerSecond, signatures, publicKeys, secretReplacedAt, createdAt } = endpoint;
  return card(
    {
      title: 'Properties',
      bare: true,
      side: a(
        { href: addressOf(['events'], { types: types.join(',') }), class: 'small' },
        'Which events it would have got',
      ),
    },
    dl(
      { class: 'facts' },
      fact('URL', outside(url)),
      fact('Types', types.length === 0 ? 'all' : said(types.join(', '))),
      fact('Order', ordered === 'device' ? 'the events of each device in order' : 'none: events are sent side by side'),
      fact('Rate', ratePerSecond === null ? 'no limit' : `at most ${counted(ratePerSecond, 'new event')} a second`),
      fact('Signature', signatures[0] === 'v1a' ? 'v1a, with a key pair' : 'v1, with a secret'),
      ...publicKeys.map(({ publicKey }, index) =>
        fact(index === 0 ? 'Public key' : 'Former public key', id(publicKey)),
      ),
      secretReplacedAt === null
        ? null
        : fact('Secret replaced', [
            age(secretReplacedAt),
            p({ class: 'quiet small' }, 'For 24 hours from then on, the former one signs as well.'),
          ]),
      fact('Added', age(createdAt)),
      fact('endpointId', id(endpoint.endpointId)),
    ),
  );
};

/** The devices whose events wait, each with the event that they wait for. */
function Blocked({ endpoint, done }: { endpoint: Endpoint; done: () => void }) {
  const { endpointId, blockedDevices } = endpoint;
  const blockers = useLoad(`blockers ${endpointId} ${blockedDevices.map((one) => one.blockedBy).join()}`, (signal) =>
    readEndpointDeliveries(endpointId, { status: 'pending', limit: MOST_BLOCKERS }, signal),
  );
  const blocker = (sequence: number) => blockers.state.value.value?.rows.find((row) => row.sequence === sequence);
  return card(
    { title: 'Blocked devices', bare: true },
    rowsTable({
      label: 'Blocked devices',
      rows: blockedDevices,
      keyOf: ({ deviceId }) => deviceId,
      columns: [
        {
          name: 'Device',
          kind: 'lead',
          cell: ({ deviceId }) => idLink(addressOf(['devices', deviceId]), deviceId),
        },
        { name: 'Waiting', kind: 'right', cell: ({ waiting }) => events(waiting) },
        {
          name: 'Blocked by',
          cell: ({ blockedBy, deviceId }) => {
            const found = blocker(blockedBy);
            return [
              a({ href: addressOfEvent(blockedBy, deviceId) }, `event ${blockedBy}`),
              found ? [' ', said(found.type)] : null,
            ];
          },
        },
        {
          name: 'Its state',
          cell: ({ blockedBy }) => {
            const found = blocker(blockedBy);
            return found ? deliveryState(found, endpoint) : nothing();
          },
        },
        {
          name: '',
          kind: 'short',
          cell: ({ deviceId, blockedBy, waiting }) =>
            mayChange('application')
              ? button(
                  {
                    type: 'button',
                    class: 'tiny',
                    onClick: () =>
                      skipEvent(
                        endpoint,
                        { sequence: blockedBy, type: blocker(blockedBy)?.type, deviceId, status: 'pending', waiting },
                        done,
                      ),
                  },
                  'Skip this event',
                )
              : null,
        },
      ],
    }),
    blockedDevices.length >= MOST_LISTED
      ? p({ class: 'pad quiet small' }, 'These are the first 100; there may be more.')
      : null,
  );
}

function OneEndpoint({ endpointId }: { endpointId: string }) {
  const round = useSignal(0);
  const replays = useSignal(false);
  const endpoint = useLoad(endpointId, async (signal) => (await readEndpoint(endpointId, signal)).value, {
    every: replays.value ? REPLAY_MS : EVERY_MS,
  });
  const { value } = endpoint.state.value;
  replays.value = value?.replay != null;
  const done = (): void => {
    endpoint.again();
    round.value += 1;
  };
  const words = value && endpointWords(value);
  return [
    head({
      title: value ? endpointName(value) : 'Endpoint',
      trail: [[addressOf(['endpoints']), 'Endpoints']],
      state: words ? badge(words.tone, words.word) : null,
      about: id(endpointId),
      actions: value ? actions(value, done) : null,
    }),
    loaded(endpoint, (known) => [
      replayCard(known, done),
      div({ class: 'columns' }, stateCard(known), propertiesCard(known)),
      known.enabled && known.ordered === 'device' && known.blockedDevices.length > 0
        ? use(Blocked, { endpoint: known, done, key: 'blocked' })
        : null,
      deliveriesOf({
        endpoint: known,
        round: round.value,
        skip: mayChange('application') ? (row, status) => skipEvent(known, { ...row, status }, done) : null,
      }),
    ]),
  ];
}

/** An endpoint: its state, its properties, its blocked devices and its deliveries. */
export const endpointPage = (endpointId: string): VNode => use(OneEndpoint, { endpointId, key: endpointId });
