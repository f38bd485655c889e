import { ChatWindow } from './chatWindow';
import { tempFolder } from '../store/storeTemp';

/** A new window over an empty store for every test of a suite. */
export function useChatWindow(): () => ChatWindow {
  let temp: ReturnType<typeof tempFolder>;
  let window: ChatWindow;
  beforeEach(() => {
    temp = tempFolder();
    window = new ChatWindow(temp.path);
  });
  afterEach(async () => {
    await window.close();
    temp.remove();
  });
  return () => window;
}
