import { snapshot } from './fixtures';
import { talk, type ViewState } from './viewState';

const recovered = {
  kind: 'recovered' as const,
  text: 'Your history was damaged. What could be read of it is here.',
  details:
    '3 sessions with 1,204 entries were brought over; not readable: the content of 1 entry. The damaged file was kept as /home/me/.config/Code/User/globalStorage/stores/5c0ffee/threadkeeper.db.damaged-20261122T120000Z.',
  dismissAs: 'recovered: 1',
};

/** A standing condition over the transcript. */
export const bannerStates: readonly ViewState[] = [
  {
    name: 'readonly',
    options: {
      snapshot: snapshot({
        rows: talk.slice(0, 1),
        banner: { kind: 'readonly', text: 'Another window has this history open. Here it can be read but not changed.' },
      }),
    },
  },
  {
    name: 'store-failed',
    options: {
      snapshot: snapshot({
        context: null,
        session: null,
        banner: { kind: 'store_failed', text: 'The history file could not be opened. Nothing has been changed in it.' },
      }),
    },
  },
  {
    name: 'untrusted',
    options: {
      snapshot: snapshot({
        rows: talk.slice(0, 1),
        banner: {
          kind: 'untrusted',
          text: 'This workspace is not trusted: nothing in it is changed or run.',
          details: 'Its files are read at most.',
          dismissAs: 'untrusted',
        },
      }),
    },
  },
  { name: 'recovered', options: { snapshot: snapshot({ rows: talk.slice(0, 1), banner: recovered }) } },
  {
    name: 'damaged',
    options: {
      snapshot: snapshot({
        rows: talk.slice(0, 1),
        banner: {
          kind: 'damaged',
          text: 'Part of your history is damaged.',
          details: '1 entry does not say what was written: entry #3 of session 20261122_001.',
        },
      }),
    },
  },
  {
    name: 'policy',
    options: {
      snapshot: snapshot({
        rows: talk.slice(0, 1),
        banner: {
          kind: 'policy',
          text: 'The policy of this session cannot be used as it is; the policy balanced is in use. threadkeeper.context.policy: "goosey" (of this session) is not a policy.',
        },
      }),
    },
  },
  {
    name: 'reduced-durability',
    options: {
      snapshot: snapshot({
        rows: talk.slice(0, 1),
        banner: {
          kind: 'reduced_durability',
          text: 'Your history is saved in a slower and less robust way here.',
          details: 'The file system did not pass the self-test.',
          dismissAs: 'reduced',
        },
      }),
    },
  },
];
