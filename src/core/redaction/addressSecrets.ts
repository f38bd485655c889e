/**
 * Names and passwords in addresses: `https://ada:lovelace@host`, `redis://:pass@host`, with `@` and `/` in the password, and a token
 * in place of the name. What stands between one `://` and the next is looked at once, so the time is linear.
 */
export function withoutLogins(text: string): string {
  return text.replace(/:\/\/((?:(?!:\/\/)[^\s"'`<>])+)/g, (whole, rest: string) => {
    const at = rest.lastIndexOf('@');
    if (at <= 0) return whole;
    const login = rest.slice(0, at);
    // A port, or a name without a password (`git@github.com:owner/name`) and what has the sign somewhere in its path.
    const isPassword = /^[^/?#@:]*(?::|%3A)(?!\d{1,5}(?:[/?#]|$))/i.test(login);
    const isToken = /^[^/?#@:]{16,}$/.test(login) && /\d/.test(login);
    return isPassword || isToken ? `://[login]${rest.slice(at)}` : whole;
  });
}
