import type { Clock } from '../ports';
import { createDiagnosticsTool } from './files/diagnosticsTool';
import { createCreateFileTool, createEditFileTool } from './files/editTools';
import { editGuard, type EditGuard, type EditRules } from './guard/guardedKinds';
import { createFindFilesTool, createListFolderTool } from './files/listingTools';
import { createReadFileTool } from './files/readFileTool';
import { createRunCommandTool } from './command/runCommandTool';
import { createSearchTextTool } from './files/searchTextTool';
import { SeenFiles } from './files/textFile';
import type { Tool } from './tool';
import type { ToolWorkspace } from './toolWorkspace';

/**
 * The tools of one conversation over its workspace, in the order in which the model is told of them. `editRules`: as the settings are now.
 */
export function workspaceTools(workspace: ToolWorkspace, clock: Clock, editRules: () => EditRules): Tool[] {
  const seen = new SeenFiles();
  let made: { readonly rules: EditRules; readonly guard: EditGuard } | undefined;
  const guard: EditGuard = (path) => {
    const rules = editRules();
    if (made?.rules !== rules) made = { rules, guard: editGuard(rules) };
    return made.guard(path);
  };
  return [
    createReadFileTool(workspace, seen),
    createListFolderTool(workspace),
    createFindFilesTool(workspace),
    createSearchTextTool(workspace),
    ...(workspace.problems ? [createDiagnosticsTool(workspace, (place) => workspace.problems!(place))] : []),
    createEditFileTool(workspace, seen, guard),
    createCreateFileTool(workspace, seen, guard),
    ...(workspace.run ? [createRunCommandTool(workspace, workspace.run.bind(workspace), clock)] : []),
  ];
}
