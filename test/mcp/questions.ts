/** A question of a person, with the facts that its answer must have. `{name}` is an object of the fleet. */
export interface Question {
  question: string;
  facts: readonly RegExp[];
  /** Arguments that a person would say in more words than a question has. */
  known?: Record<string, unknown>;
}

const NORTH_ROLLOUT = { operation: 'setLanguage', parameters: { lang: 'de' }, devices: { tags: { site: 'north' } } };

export const QUESTIONS: readonly Question[] = [
  {
    question: 'Why does the device {silent} not get its command?',
    facts: [/the device is offline/, /last seen 2026-/],
  },
  { question: 'Why does {blocked} not get its command?', facts: [/blocked by administration/] },
  {
    question: 'What failed since yesterday, by version and code?',
    facts: [/2 x STORAGE_FULL/, /com\.example\.camera@1\.2\.0/],
  },
  {
    question: 'What did the device say when the install with STORAGE_FULL failed?',
    facts: [/no room left on the card/],
  },
  {
    question: 'On which devices did version 1.2.0 of com.example.camera fail?',
    facts: [/{north} failed/, /{south} failed/],
  },
  {
    question: 'Whose webhooks do not arrive, and what did the receiver answer?',
    facts: [/answer 503/, /maintenance until noon/],
  },
  {
    question: 'Look at the delivery {delivery}: what did the receiver answer to its attempts?',
    facts: [/attempt 1 2026-/, /maintenance until noon/],
  },
  { question: 'How does the rollout {rollout} stand?', facts: [/is paused/, /4 succeeded/] },
  { question: 'Why is the rollout {rollout} paused?', facts: [/HEALTH_RULE/] },
  {
    question: 'Is the canary of {rollout} healthy against the control group?',
    facts: [/silent (worse|broken)/, /rules that fired: silent/],
  },
  { question: 'Who paused {rollout}, and when?', facts: [/2026-\S+ paused stage 1 by service/] },
  {
    question: 'What would a rollout of the language de to all devices in the north do?',
    facts: [/Effect: devices 1, stages 1/, /nothing was changed/],
    known: { rollout: NORTH_ROLLOUT },
  },
  { question: 'What changed, and who did it?', facts: [/changed the settings of this application/] },
  { question: 'Is everything healthy?', facts: [/8 activated devices, 6 of them connected/, /is paused/] },
  { question: 'What ends soon?', facts: [/valid until 2026-12-/] },
  { question: 'Find the devices with the tag site=north', facts: [/devices that match: 1,/, /{north}/] },
  { question: 'Which devices are offline?', facts: [/{silent}, offline, last seen/] },
  { question: 'How many devices have the firmware version 2.0.0?', facts: [/devices that match: 2,/] },
  { question: 'Which devices have a battery below 20?', facts: [/{north}.*battery 12%/] },
  { question: 'What does the error STORAGE_FULL mean, and what should I do?', facts: [/no room for the file/] },
  { question: 'Explain RATE_LIMITED', facts: [/status 429/, /Retry-After/] },
  { question: 'How do I verify the signature of a webhook?', facts: [/page=verify-webhooks/] },
  { question: 'What is the limit of the size of a request body?', facts: [/1 MiB/] },
  { question: 'Which notes did people write on the device {north}?', facts: [/the lens was replaced in May/] },
  { question: 'What is the battery and the firmware of the device {north}?', facts: [/Battery 12%/, /2\.1\.0/] },
  { question: 'Which software is installed on the device {healthy}?', facts: [/com\.example\.camera/, /code 12/] },
  { question: 'Which events did {north} send, was there an SOS?', facts: [/custom\.sos/, /red/] },
  {
    question: 'Is version 1.2.0 of com.example.camera uploaded and distributed?',
    facts: [/distribution is started/, /Binary: 6 bytes/],
  },
  { question: 'Whose token is this, and what may it do?', facts: [/Ada Lovelace/, /svc:device:write/] },
  { question: 'Look at command {command}: when was it delivered?', facts: [/delivered 2026-/, /STORAGE_FULL/] },
  { question: 'List the rollouts that are paused', facts: [/{rollout}/] },
  { question: 'Set the tag site=west at the device {south}', facts: [/Effect: devices 1, changedTags 1/, /proposal=/] },
];
