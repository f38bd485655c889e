import { everywhereTasks, type EverywhereTasks } from './everywhereTasks';

/** One task, named by the arguments; its result goes to the parent process. */
async function main([name, given]: readonly string[]): Promise<void> {
  const run = everywhereTasks[name as keyof EverywhereTasks] as (given: unknown) => Promise<unknown>;
  const result = await run(JSON.parse(given ?? '{}'));
  process.send?.({ result });
}

void main(process.argv.slice(2)).then(() => process.disconnect?.());
