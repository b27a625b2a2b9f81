// For nginx-cluster.conf: reads the client identifier of a CONNECT, which is the device's id.

let device = '';

/** The place after a string that begins with its length; undefined when it is not all there. */
function after(data, at) {
  const end = at + 2 + data.readUInt16BE(at);
  return end <= data.length ? end : undefined;
}

/** The client identifier; undefined when more bytes are needed, and empty in anything but a CONNECT. */
function identifierOf(data) {
  if (data.length > 0 && data[0] !== 0x10) return '';
  let at = 1;
  while (at < data.length && data[at] > 127) at += 1; // the length of the packet
  at += 1;
  if (at > 5) return '';
  if (at + 2 > data.length) return undefined;
  const name = after(data, at);
  if (name === undefined) return undefined;
  const isVersion5 = data[name] === 5;
  at = name + 4; // version, flags, keep-alive
  if (isVersion5) {
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      if (at >= data.length || shift > 21) return shift > 21 ? '' : undefined;
      const byte = data[at];
      at += 1;
      length |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    at += length;
  }
  if (at + 2 > data.length) return undefined;
  const end = after(data, at);
  return end === undefined ? undefined : data.slice(at + 2, end).toString();
}

/** Waits until the identifier has arrived. */
function read(session) {
  session.on('upstream', (data, flags) => {
    const found = identifierOf(data);
    if (found === undefined && !flags.last) return;
    device = found || '';
    session.off('upstream');
    session.done();
  });
}

const deviceId = () => device;

export default { read, deviceId };
