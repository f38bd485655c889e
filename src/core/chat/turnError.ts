import type { ModelFailure } from '../models/modelEvent';
import { StoreError, errorText } from '../errors';
import type { TurnError } from './events';

/** A failed model call in words that say what to do. The provider's own words follow where they help. */
export function modelTurnError(failure: ModelFailure, model: string): TurnError {
  return { reason: failure.reason, message: text(failure, model) };
}

function text(failure: ModelFailure, model: string): string {
  const said = failure.detail ? ` The provider says: ${failure.detail}` : '';
  switch (failure.reason) {
    case 'no_key':
      return 'There is no API key. Set one with “Threadkeeper: Set API Key…”, or go on in offline mode.';
    case 'bad_key':
      return `The API key was refused. Set a valid one with “Threadkeeper: Set API Key…”; your message is kept.${said}`;
    case 'network':
      return `The model could not be reached. Check the network and the provider’s address (its baseUrl setting), then try again; your message is kept.${said}`;
    case 'overloaded':
      return `The model is overloaded and stayed so over several attempts. Try again in a while; your message is kept.${said}`;
    case 'rate_limited':
      return `The provider limits how much you may send${failure.retryAfterMs ? ` for another ${Math.ceil(failure.retryAfterMs / 1000)} s` : ''}. Try again later; your message is kept.${said}`;
    case 'server':
      return `The provider had an error. Try again; your message is kept.${said}`;
    case 'overflow':
      return `The conversation does not fit the model's window even after compaction. Shorten the last message, or start a new session.${said}`;
    case 'unknown_model':
      return `The provider does not know the model${model ? ` “${model}”` : ''}. Choose another with “Threadkeeper: Select Model…”; your message is kept.${said}`;
    case 'refused':
      return `The model declined to answer this. Rephrase the message, or choose another model.${said}`;
    case 'quota':
      return `What you may use at the provider is used up. Add credit or wait for the next period, or choose another model; your message is kept.${said}`;
    case 'budget':
      return failure.detail;
    case 'invalid_request':
      return `The provider did not accept the request.${said}`;
    case 'cancelled':
      return 'Stopped.';
  }
}

/** `saved`: the user's message is on disk, and what failed came after it. */
export function storeTurnError(error: unknown, saved = false): TurnError {
  if (!StoreError.is(error)) return { reason: 'internal', message: `Something went wrong inside Threadkeeper: ${errorText(error)} (details in “Threadkeeper: Show Log”).` };
  const store = (message: string): TurnError => ({ reason: 'store', message });
  switch (error.reason) {
    case 'readonly':
      return store('The history is read-only in this window because another window is using it. Nothing was sent; your text is still here.');
    case 'disk_full':
      return store(
        saved
          ? 'The disk is full. Your message is saved, what came after it could not be. Free some space and try again.'
          : 'The disk is full, so the message could not be saved and was not sent. Free some space and send it again.',
      );
    case 'permission':
      return store(`The history file may not be written, so ${saved ? 'the answer was not saved; your message is' : 'the message was not sent'}. ${error.message}`);
    case 'conflict':
      return store(`Another window has changed this session in the meantime. ${saved ? 'Your message is saved; try again to get an answer.' : 'The message was not sent; send it again.'}`);
    case 'lease_lost':
      return store('Another window has taken over this history. Reload this window to continue; nothing of it is lost.');
    case 'corrupt':
    case 'newer_schema':
    case 'invalid':
    case 'closed':
    case 'io':
      return store(`The history could not be written, so nothing more was ${saved ? 'saved' : 'sent'}. ${error.message}`);
  }
}
