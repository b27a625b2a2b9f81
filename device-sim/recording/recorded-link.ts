import type { Link, LinkOptions } from '../mqtt/link.ts';
import type { Recorder } from './recorder.ts';
import type { Ending } from './traffic.ts';

type CreateLink = (options: LinkOptions) => Link;

/**
 * Makes connections whose messages are recorded. A message is recorded when the device sends it first, without the
 * repetitions of MQTT.
 */
export const recorded =
  (createLink: CreateLink, recorder: Recorder): CreateLink =>
  (options) => {
    const { deviceId } = options;
    /** How the device itself ends the present connection; `lost` as long as it does not. */
    let how: Ending = 'lost';
    const link = createLink({
      ...options,
      onOnline(sessionPresent) {
        how = 'lost';
        recorder.connected(deviceId);
        options.onOnline(sessionPresent);
      },
      onMessage(topic, payload, dup, messageId) {
        recorder.message(deviceId, 'received', topic, payload);
        return options.onMessage(topic, payload, dup, messageId);
      },
      onClose(reason, wasOnline) {
        if (wasOnline) recorder.disconnected(deviceId, how);
        options.onClose(reason, wasOnline);
      },
    });
    return {
      get hasConnection() {
        return link.hasConnection;
      },
      get online() {
        return link.online;
      },
      get address() {
        return link.address;
      },
      get inFlight() {
        return link.inFlight;
      },
      open: (given) => link.open(given),
      useCredential: (credential) => link.useCredential(credential),
      close() {
        how = 'politely';
        return link.close();
      },
      cut() {
        how = 'cut';
        return link.cut();
      },
      publish(topic, payload, done) {
        recorder.message(deviceId, 'sent', topic, payload);
        link.publish(topic, payload, done);
      },
      release: (messageId) => link.release(messageId),
      freeze: () => link.freeze(),
      readSlowly: (bytesPerSecond) => link.readSlowly(bytesPerSecond),
      forget: () => link.forget(),
    };
  };
