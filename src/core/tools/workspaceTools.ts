import type { Clock } from '../ports';
import { createDiagnosticsTool } from './diagnosticsTool';
import { createCreateFileTool, createEditFileTool } from './editTools';
import { createFindFilesTool } from './findFilesTool';
import { createListFolderTool } from './listFolderTool';
import { createReadFileTool } from './readFileTool';
import { createRunCommandTool } from './runCommandTool';
import { createSearchTextTool } from './searchTextTool';
import { SeenFiles } from './seenFiles';
import type { Tool } from './tool';
import type { ToolWorkspace } from './toolWorkspace';

/** The tools of one conversation over its workspace, in the order in which the model is told of them. */
export function workspaceTools(workspace: ToolWorkspace, clock: Clock): Tool[] {
  const seen = new SeenFiles();
  return [
    createReadFileTool(workspace, seen),
    createListFolderTool(workspace),
    createFindFilesTool(workspace),
    createSearchTextTool(workspace),
    ...(workspace.problems ? [createDiagnosticsTool(workspace, (place) => workspace.problems!(place))] : []),
    createEditFileTool(workspace, seen),
    createCreateFileTool(workspace, seen),
    ...(workspace.run ? [createRunCommandTool(workspace, workspace.run.bind(workspace), clock)] : []),
  ];
}
