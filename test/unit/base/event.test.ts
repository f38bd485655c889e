import { deepStrictEqual, throws } from 'node:assert';
import { Emitter, setListenerFailed } from '../../../src/core/base/event';

describe('an event', () => {
  const failed = (error: unknown): void => {
    throw error;
  };
  afterEach(() => setListenerFailed(failed));

  const withFaultyListener = () => {
    const emitter = new Emitter<string>();
    const heard: string[] = [];
    emitter.event(() => failed(new Error('by script')));
    emitter.event((value) => heard.push(value));
    return { emitter, heard };
  };

  it('is heard by the others and costs who fires nothing where a listener fails and somebody takes that', () => {
    const { emitter, heard } = withFaultyListener();
    const told: unknown[] = [];
    setListenerFailed((error) => told.push(error));
    emitter.fire('one');
    deepStrictEqual({ heard, told: told.map(String) }, { heard: ['one'], told: ['Error: by script'] });
  });

  it('ends with the exception of a listener where nobody takes it', () => {
    const { emitter } = withFaultyListener();
    throws(() => emitter.fire('one'), /by script/);
  });
});
