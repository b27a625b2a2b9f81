import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { button, type Child, details, div, form, p, summary, use, type VNode } from '../base/elements.ts';
import { counted } from '../base/format.ts';
import { createNewest } from '../base/newest.ts';
import { addressOf, place } from '../base/place.ts';
import { createKeys } from '../base/request-key.ts';
import { operation, read, send } from '../base/requests.ts';
import { OF, retryOf, selectorOf, stagesOf } from '../base/rollout-request.ts';
import type { DeviceCount, DeviceSelector, RolloutCreate } from '../base/rows.ts';
import { mayChange } from '../base/session.ts';
import { given, numberOf, typed } from '../base/typed.ts';
import { fromField, zoneName } from '../base/zone.ts';
import { COMMANDS } from '../parts/commands.ts';
import { confirmFields, readConfirm } from '../parts/confirm-fields.ts';
import { ask } from '../parts/dialog.ts';
import { choice, textField, tick } from '../parts/fields.ts';
import { head } from '../parts/head.ts';
import { healthFields, readHealth } from '../parts/health-fields.ts';
import { trouble } from '../parts/loaded.ts';
import { placesField } from '../parts/places-field.ts';
import { REVERT_AFTER, revertField } from '../parts/revert-field.ts';
import { abortFields, group, labelField, paceField, readRules, whole, windowFields } from '../parts/rollout-fields.ts';
import { listFields, matchFields } from '../parts/selector-fields.ts';
import { card, empty } from '../parts/show.ts';
import { type StageRow, stageFields } from '../parts/stage-fields.ts';
import { termsFields, termsQuery } from '../parts/terms-fields.ts';
import { rolloutDryRun } from './rollout-dry-run.ts';
import { type Counted, matchWords, rolloutPreview } from './rollout-preview.ts';

type Operation = RolloutCreate['operation'];

/** Milliseconds after the last keystroke until the devices are counted. */
const DEBOUNCE_MS = 300;
/** The values with which most rollouts begin; docs/application-developers.md says why. */
const FIRST_STAGE: StageRow = { number: 1, size: '5', soak: '86400' };
const RULES = { abort: { failedPercent: 10, minimumResults: 20 } };
const TERMS = { expireIn: '604800', answerWithin: '3600' };

const ROLLED = COMMANDS.filter(({ rollout }) => rollout !== undefined);
const commandOf = (wanted: string | undefined) => ROLLED.find(({ rollout }) => rollout === wanted);

/** The request that the fields make. Throws an Error for a field that cannot be read. */
function requestOf(data: FormData): RolloutCreate {
  const command = commandOf(typed(data, 'operation'))!;
  const startAt = typed(data, 'startAt');
  const { expireIn, answerWithin, supersede } = termsQuery(data);
  return given({
    label: typed(data, 'label'),
    operation: command.rollout,
    parameters: command.body?.(data),
    devices: selectorOf(data),
    stages: stagesOf(data),
    ...readRules(data),
    startAt: startAt === undefined ? undefined : new Date(fromField(startAt)).toISOString(),
    retry: retryOf(data),
    confirm: readConfirm(data),
    ...readHealth(data),
    expireIn: expireIn === undefined ? undefined : Number(expireIn),
    answerWithin: answerWithin === undefined ? undefined : Number(answerWithin),
    supersede: supersede === undefined ? undefined : true,
    revertAfter: numberOf(data, REVERT_AFTER),
    continuous: data.has('continuous') || undefined,
    preferConnected: data.has('preferConnected') || undefined,
  }) as RolloutCreate;
}

/**
 * The request that counts the devices, or the error of a field that cannot be read. The versions are those of the package
 * that is installed.
 */
function countRequest(data: FormData): { devices: DeviceSelector; versionsOf?: string } | Error {
  try {
    const devices = selectorOf(data);
    const installed = data.get('operation') === 'installSoftware' ? typed(data, 'package') : undefined;
    return { devices, ...(installed !== undefined && { versionsOf: installed }) };
  } catch (error) {
    return error as Error;
  }
}

/** Counts the devices that the fields select: when a field changes, and some time after the last keystroke. */
function useCount() {
  const found = useSignal<Counted>({ value: undefined, error: null, isAsking: true });
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const asked = useRef('');
  const newest = useMemo(
    () =>
      createNewest<DeviceCount>((outcome) => {
        if ('error' in outcome) asked.current = ''; // the next change asks again
        found.value =
          'value' in outcome
            ? { value: outcome.value, error: null, isAsking: false }
            : { ...found.peek(), error: outcome.error, isAsking: false };
      }),
    [],
  );
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      newest.stop();
    },
    [],
  );
  function count(data: FormData): void {
    const wanted = countRequest(data);
    const text = wanted instanceof Error ? wanted.message : JSON.stringify(wanted);
    if (text === asked.current) return;
    asked.current = text;
    newest.stop();
    clearTimeout(timer.current);
    found.value = { ...found.peek(), isAsking: true };
    timer.current = setTimeout(() => {
      if (wanted instanceof Error) found.value = { ...found.peek(), error: wanted, isAsking: false };
      else if (wanted.devices.devices?.length === 0) found.value = { value: undefined, error: null, isAsking: false };
      else newest.ask((signal) => read<DeviceCount>(operation('countDevices'), { json: wanted, signal }));
    }, DEBOUNCE_MS);
  }
  return { found, count };
}

const moreRules = (): Child =>
  details(
    null,
    summary(null, 'More rules: window, begin, retries'),
    div(
      { class: 'stack folded' },
      group('Window', windowFields({})),
      group(
        'Retry',
        textField({
          name: 'retryCodes',
          label: 'After these errors',
          hint: 'Codes, separated by commas, as DOWNLOAD_FAILED.',
        }),
        textField({ name: 'retryAttempts', label: 'Commands of a device, at most', value: '3' }, whole(2, 10)),
        textField({ name: 'retryAfter', label: 'Seconds between them', value: '600' }, whole(0, 604_800)),
      ),
      group(
        'Begin',
        textField(
          { name: 'startAt', label: `Not before (${zoneName()})`, hint: 'Until then the version may be uploaded.' },
          { type: 'datetime-local' },
        ),
      ),
      tick({ name: 'preferConnected', label: 'Connected devices of a stage first' }),
      tick({ name: 'continuous', label: 'Devices that begin to match later join; only a cancel ends the rollout' }),
    ),
  );

/** Shows what would begin, asks for a confirmation, and starts the rollout. */
function confirm(body: RolloutCreate, idempotencyKey: string): void {
  ask({
    title: 'Start the rollout?',
    text: rolloutDryRun(body),
    does: 'Start the rollout',
    async act(_, go) {
      const response = await send(operation('startRollout'), { json: body, idempotencyKey });
      const { rolloutId, devices } = (await response.json()) as { rolloutId: string; devices: number };
      go(addressOf(['rollouts', rolloutId]));
      return `The rollout has ${counted(devices, 'device')}.`;
    },
  });
}

function NewRollout() {
  const known = useRef(place.peek().query).current;
  const element = useRef<HTMLFormElement>(null);
  const chosen = useSignal<Operation>(commandOf(known['operation'])?.rollout ?? 'installSoftware');
  const mode = useSignal<'match' | 'list'>('match');
  const rows = useSignal<readonly StageRow[]>([FIRST_STAGE]);
  const error = useSignal<Error | null>(null);
  const keyOf = useMemo(createKeys, []);
  const { found, count } = useCount();
  const changed = (): void => {
    const data = new FormData(element.current!);
    error.value = null;
    count(data);
  };
  useEffect(changed, [chosen.value, mode.value, rows.value]);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    try {
      const body = requestOf(new FormData(element.current!));
      confirm(body, keyOf(body));
    } catch (thrown) {
      error.value = thrown as Error;
    }
  };
  const command = commandOf(chosen.value)!;
  return [
    head({
      title: 'Start a rollout',
      trail: [[addressOf(['rollouts']), 'Rollouts']],
      about: 'One operation for many devices. Nothing is sent before you have confirmed it.',
    }),
    form(
      { ref: element, class: 'wide-first', autoComplete: 'off', onSubmit: submit, onInput: changed, onChange: changed },
      div(
        { class: 'stack' },
        card(
          { title: 'What' },
          div(
            { class: 'stack' },
            div(
              { class: 'fields even' },
              choiceOf(chosen.value, (value) => (chosen.value = value)),
              labelField(null),
            ),
            p({ class: 'quiet small' }, command.about),
            div({ class: 'fields even', key: chosen.value }, command.fields?.(known)),
          ),
        ),
        card(
          { title: 'Which devices' },
          which(known, mode.value, (value) => (mode.value = value), matchWords(found.value)),
        ),
        card({ title: 'Stages' }, stageFields(rows)),
        card(
          { title: 'Rules' },
          div(
            { class: 'stack' },
            group('Abort rule', abortFields(RULES)),
            confirmGroup(chosen.value),
            group('Health', healthFields()),
            group('Pace and time', paceField({}), placesField({}, { isNew: true }), termsFields(true, TERMS)),
            moreRules(),
          ),
        ),
      ),
      div(
        { class: 'stack beside-form' },
        rolloutPreview(found.value),
        error.value ? trouble(error.value) : null,
        button({ type: 'submit', class: 'main' }, 'Start the rollout ...'),
      ),
    ),
  ];
}

function confirmGroup(operation: Operation): Child {
  const back = revertField(operation);
  const fields = [...confirmFields(operation), ...(back ? [back] : [])];
  return fields.length === 0 ? null : div({ key: operation }, group('Success', fields));
}

const choiceOf = (value: Operation, set: (value: Operation) => void): Child =>
  choice(
    { name: 'operation', label: 'Operation', value },
    ROLLED.map(({ rollout, name }) => [rollout!, name] as const),
    { onChange: (event) => set(event.currentTarget.value as Operation) },
  );

const MODES = [
  ['match', 'Devices that match'],
  ['list', 'These devices'],
] as const;

const which = (
  known: Readonly<Record<string, string | undefined>>,
  mode: 'match' | 'list',
  set: (mode: 'match' | 'list') => void,
  words: string,
): Child =>
  div(
    { class: 'stack' },
    div(
      { class: 'fields even' },
      choice({ name: OF.mode, label: 'Selection', value: mode }, MODES, {
        onChange: (event) => set(event.currentTarget.value as typeof mode),
      }),
    ),
    mode === 'list'
      ? div({ key: 'list' }, listFields())
      : div(
          { class: 'stack', key: 'match' },
          p({ class: 'quiet small' }, 'Empty fields select all activated devices.'),
          matchFields(known),
        ),
    p({ class: 'soft', role: 'status' }, words),
  );

function Refused() {
  return [
    head({ title: 'Start a rollout', trail: [[addressOf(['rollouts']), 'Rollouts']] }),
    empty({ title: 'You are signed in for reading only', text: 'Sign in again and allow changes to start a rollout.' }),
  ];
}

export const newRolloutPage = (): VNode => (mayChange('device') ? use(NewRollout, {}) : use(Refused, {}));
