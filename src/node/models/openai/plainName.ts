/** A tool's name or an id in the letters that every provider knows, from one that another provider has made: `functions.read_file:0`. */
export function plainName(name: string, most = Infinity): string {
  return (name.replace(/[^\w-]/g, '_') || '_').slice(0, most);
}
