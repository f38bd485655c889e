import { deepStrictEqual, match } from 'node:assert';
import { useChatWindow } from '../../../support/vscode/useChatWindow';

describe('the policy that a session brings along', () => {
  const window = useChatWindow();

  const banners = () => window().deltas.flatMap((delta) => (delta.kind === 'banner' ? [delta.banner?.kind ?? null] : []));

  it('is told in the view while it cannot be used, and no longer', async () => {
    await window().ask('First');
    const { choices } = window().controller;
    await choices.setPolicy({ preset: 'goosey' });
    deepStrictEqual([banners(), window().controller.active.session?.policy], [['policy'], { preset: 'goosey' }]);
    await window().controller.ready();
    match(window().last.banner?.text ?? '', /the policy balanced is in use/);
    await choices.setPolicy({ preset: 'goose' });
    await window().controller.renameSession('Another title');
    deepStrictEqual(banners(), ['policy', null]);
  });

  it('says nothing in another session', async () => {
    await window().ask('First');
    await window().controller.choices.setPolicy({ preset: 'goosey' });
    await window().controller.active.newSession();
    deepStrictEqual(window().last.banner, null);
  });
});
