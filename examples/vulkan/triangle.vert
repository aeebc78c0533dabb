#version 450
layout(location = 0) out vec3 colour;
void main()
{
    const vec2 corners[3] = vec2[](vec2(0, -0.8), vec2(0.8, 0.8), vec2(-0.8, 0.8));
    gl_Position = vec4(corners[gl_VertexIndex], 0, 1);
    colour = vec3(gl_VertexIndex == 0, gl_VertexIndex == 1, gl_VertexIndex == 2);
}
