/** What a connection still writes after its device has connected elsewhere, or may not connect any more: it is refused. */
export class Superseded extends Error {
  constructor() {
    super('the device is connected elsewhere, or not allowed to be');
    this.name = 'Superseded';
  }
}
