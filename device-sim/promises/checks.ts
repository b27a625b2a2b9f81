/**
 * The checks of the simulator, by name: the figure in which a breach counts, and the question that the check answers. Each
 * counts how often it has looked (`looks.ts`), because a check that never looks holds nothing.
 */
export const CHECKS = {
  // Commands, as devices get them.
  'command-content': { figure: 'wrong', about: 'a command has the operation and the parameters of its request' },
  'command-device': { figure: 'violations', about: 'a command comes to the device that was asked' },
  'command-order': { figure: 'unordered', about: 'commands come in the order of their transactionIds' },
  'command-attempt': {
    figure: 'violations',
    about: 'a repeated command has a higher `attempt`, and its first `issuedAt`',
  },
  'command-readable': { figure: 'violations', about: 'a command can be read, as its schema says' },
  'command-answered': {
    figure: 'doubled',
    about: 'a command whose answer was acknowledged does not come on a later connection',
  },
  'command-stopped': {
    figure: 'violations',
    about: 'a cancelled or expired command does not come on a later connection',
  },
  'cancel-owed': {
    figure: 'violations',
    about: 'a device that has a command, unanswered, gets its cancel, also after it was away',
  },
  'cancel-needless': { figure: 'violations', about: 'no cancel comes for a command that had succeeded or failed' },
  'command-window': { figure: 'window', about: 'at most 16 commands are without a PUBACK or an answer' },
  // Logins.
  'login-given': { figure: 'violations', about: 'the credential that the service gave is accepted' },
  'login-wrong': { figure: 'violations', about: 'a wrong credential is refused' },
  'login-former': { figure: 'wrong', about: 'a replaced credential is refused' },
  'login-closed': {
    figure: 'wrong',
    about: 'the connection ends with a new credential, and with the removal of the device',
  },
  // Results.
  'result-lost': { figure: 'lost', about: 'each accepted transaction has a result, or waits for its device' },
  'result-once': { figure: 'doubled', about: 'a transaction has one result, in one webhook with one body' },
  'result-late': { figure: 'late', about: 'the result comes soon after the answer was acknowledged' },
  'result-content': { figure: 'wrong', about: 'the webhook of a result says what the device has answered' },
  'result-envelope': { figure: 'wrong', about: '`type` and `deviceId` of a webhook are those of its transaction' },
  'result-cancelled': { figure: 'wrong', about: 'a transaction whose cancel was answered 204 ends as cancelled' },
  'result-expired': { figure: 'wrong', about: 'a transaction expires only by its own term, and not before its time' },
  'result-superseded': {
    figure: 'wrong',
    about: 'a transaction ends with SUPERSEDED only if a newer command may supersede',
  },
  'result-reverted': {
    figure: 'wrong',
    about: 'a transaction fails with REVERTED only by its own `revertAfter`, and not before its time',
  },
  'result-record': { figure: 'wrong', about: 'the transaction record agrees with its webhook' },
  'ids-once': { figure: 'reused', about: 'no two requests get one transactionId' },
  // Webhooks.
  'webhook-signed': { figure: 'forged', about: 'a webhook is signed with the authenticationKey' },
  'webhook-new-key': { figure: 'forged', about: 'after a new authenticationKey, attempts are signed with it' },
  'webhook-former-key': {
    figure: 'violations',
    about: 'for a day after a new authenticationKey, attempts are signed with the former one as well',
  },
  'webhook-timestamp': {
    figure: 'wrong',
    about:
      '`timestamp` is the time of the event: not before its cause, not after its arrival, the same in each attempt',
  },
  'webhook-schedule': { figure: 'hammering', about: 'an attempt after a failed one keeps the documented pause' },
  'webhook-retry-after': { figure: 'hammering', about: 'a longer `Retry-After` is kept' },
  'webhook-accepted': { figure: 'repeated', about: 'no attempt comes after an answer of 2xx' },
  'webhook-gone': { figure: 'hammering', about: 'no attempt comes after an answer of 410' },
  // Events.
  'event-lost': { figure: 'eventsLost', about: 'an acknowledged event has its webhook' },
  'event-once': { figure: 'eventsDoubled', about: 'an event has one webhook' },
  'event-content': { figure: 'wrong', about: 'the webhook of an event has its type, device and data' },
  // Endpoints, and the stream of events.
  'endpoint-signed': { figure: 'forged', about: 'an event to an endpoint is signed with the key of the endpoint' },
  'endpoint-order': {
    figure: 'order',
    about: 'the events of a device come to an ordered endpoint with rising `deviceSequence`',
  },
  'endpoint-all': { figure: 'gaps', about: 'each event of its types comes to an enabled endpoint' },
  'stream-order': { figure: 'order', about: 'a consumer gets events with rising `sequence`, also after a restart' },
  'stream-all': { figure: 'gaps', about: 'each event of its types comes to a consumer of the stream' },
  'device-numbers': { figure: 'gaps', about: '`deviceSequence` rises by one within a device' },
  'event-types': { figure: 'violations', about: 'an endpoint or a consumer gets events of its types only' },
  'event-same': {
    figure: 'violations',
    about: 'an event has the same id, numbers and content in webhooks, at endpoints and in the stream',
  },
  // The API.
  'calls-answered': { figure: 'errors', about: 'a call is answered, and not with 5xx' },
  'key-repeated': { figure: 'wrong', about: 'a repeated Idempotency-Key gets the first answer' },
  'key-later': { figure: 'wrong', about: 'an Idempotency-Key that is repeated much later gets the first answer' },
  'key-other-request': { figure: 'wrong', about: 'an Idempotency-Key with another request is refused' },
  'token-scope': { figure: 'wrong', about: 'a token without the scope is refused' },
  'token-forged': { figure: 'wrong', about: 'a forged token is refused' },
  'token-changed': { figure: 'wrong', about: 'a token whose claims were changed is refused' },
  'token-valid': { figure: 'wrong', about: 'a token is accepted for its time, although a newer one was issued' },
  'token-expired': { figure: 'wrong', about: 'a token is refused after its time' },
  'token-hour': { figure: 'violations', about: 'a token is valid for the documented hour' },
  'device-unknown': { figure: 'wrong', about: 'a device that the developer does not have is refused' },
  'device-foreign': { figure: 'wrong', about: 'a device of another developer is refused' },
  'device-moved': { figure: 'wrong', about: 'a device that moved to another developer is refused' },
  'status-device': { figure: 'wrong', about: 'a status is that of the device that was asked for' },
  'status-content': { figure: 'wrong', about: 'the status of a device is what it last reported' },
  // Downloads.
  'url-valid': { figure: 'wrong', about: 'a download URL yields its file until it expires' },
  'url-expired': { figure: 'wrong', about: 'a download URL is refused after it has expired' },
  'url-hour': {
    figure: 'violations',
    about: 'a download URL is good for the documented hour, and `expiresAt` says so',
  },
  // Enrolment.
  'enrolment-given': { figure: 'violations', about: 'a device that enrols gets a credential, and can log in with it' },
  'enrolment-again': {
    figure: 'wrong',
    about: 'before its first login a device that asks again gets another credential, and the former one is refused',
  },
  'enrolment-nonce': { figure: 'wrong', about: 'another nonce cannot take the place of a device that has asked' },
  'enrolment-once': { figure: 'wrong', about: 'a device that has logged in cannot enrol again' },
  'enrolment-code': { figure: 'wrong', about: 'an unknown code is refused' },
  // Rollouts.
  'rollout-members': { figure: 'violations', about: 'a rollout has the devices that its selector matches' },
  'rollout-counts': { figure: 'violations', about: 'the counts of a rollout are those of its devices' },
  'rollout-device': {
    figure: 'violations',
    about: 'a device of a rollout has the state of its result, and one final result',
  },
  'rollout-transactions': {
    figure: 'violations',
    about: 'the list of transactions of a rollout agrees with the webhooks',
  },
  'rollout-named': { figure: 'wrong', about: 'the webhook of a transaction names its rollout' },
  'rollout-events': { figure: 'violations', about: 'a stage, a pause and an end have one webhook each' },
  'rollout-abort': {
    figure: 'violations',
    about: 'the abort rule stops a rollout with the first result that makes it true',
  },
  'rollout-share': {
    figure: 'violations',
    about: 'a stage begins only after the one before had its share of successes',
  },
  'rollout-soak': { figure: 'violations', about: 'a stage begins only after the soak of the one before' },
  'rollout-approval': { figure: 'violations', about: 'a stage begins only after the approval of the one before' },
  'rollout-paused': {
    figure: 'overshoot',
    about: 'no command is published for the first time while its rollout is paused or cancelled',
  },
  'rollout-window': { figure: 'overshoot', about: 'no command is published for the first time outside of the window' },
  // The service as a whole.
  'service-answers': { figure: 'stalled', about: 'the service does not stand still for a second' },
  'service-halts': { figure: 'halted', about: 'the service does not stand still for parts of each second' },
  'service-memory': { figure: 'memory', about: 'the memory of the service does not grow without end' },
  'service-ends': { figure: 'crashes', about: 'the service does not end by itself' },
} as const satisfies Readonly<Record<string, { readonly figure: string; readonly about: string }>>;

export type CheckName = keyof typeof CHECKS;
