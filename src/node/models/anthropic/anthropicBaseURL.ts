/** Where requests go unless the user says otherwise. In a file of its own: what needs the address needs not load the SDK. */
export const anthropicBaseURL = 'https://api.anthropic.com';
