"""Reads the files of a folder with programs that people use, and compares them with bare columns of numbers.

python other_programs.py FOLDER READER
"""

import sys

import numpy as np

folder, reader = sys.argv[1:]
POINTS, TIME = 1000, 0.6000000000000001


def column(name, width=1, dtype="<f4"):
    values = np.fromfile(f"{folder}/{name}", dtype)
    return values.reshape(-1, width) if width > 1 else values


def same(found, expected):
    found = np.asarray(found)
    assert found.size == expected.size, (found.shape, expected.shape)
    assert np.array_equal(found.reshape(expected.shape), expected), (found, expected)


positions = column("positions", 3)
velocity, body, stress, x, normal = (
    column("0", 3),
    column("1", 1, "<i4"),
    column("2"),
    column("3"),
    column("4", 3),
)
triangles, texture = column("triangles", 3, "<u4"), column("texture", 2)
CUBE = slice(0, POINTS // 3)


def check_vtk_fields(fields, extra=()):
    assert set(fields) == {"velocity", "body", "von Mises stress <Pa>", "x", "normal", *extra}, set(fields)
    same(fields["velocity"], velocity)
    same(fields["body"], body)
    same(fields["von Mises stress <Pa>"], stress)
    same(fields["x"], x)
    same(fields["normal"], normal)


def check_meshio():
    import meshio

    mesh = meshio.read(f"{folder}/points.vtu")
    same(mesh.points, positions)
    check_vtk_fields(mesh.point_data)
    same(mesh.field_data["TimeValue"], np.array([TIME]))
    same(mesh.cells_dict["vertex"].ravel(), np.arange(POINTS))
    mesh = meshio.read(f"{folder}/mesh.vtu")
    same(mesh.points, positions)
    same(mesh.cells_dict["triangle"], triangles)
    same(mesh.point_data["texture_coordinates"], texture)
    for name in ["points", "mesh"]:
        mesh = meshio.read(f"{folder}/{name}.ply")
        same(mesh.points, positions)
        for k, axis in enumerate("xyz"):
            same(mesh.point_data[f"v{axis}"], velocity[:, k])
            same(mesh.point_data[f"n{axis}"], normal[:, k])
        same(mesh.point_data["body"], body)
        same(mesh.point_data["von_Mises_stress__Pa_"], stress)
        same(mesh.point_data["x_"], x)
    same(mesh.cells_dict["triangle"], triangles)
    same(np.stack([mesh.point_data["s"], mesh.point_data["t"]], 1), texture)
    mesh = meshio.read(f"{folder}/mesh.obj")
    # It reads doubles; the digits are those of singles.
    same(np.asarray(mesh.points, "f4"), positions)
    same(mesh.cells_dict["triangle"], triangles)
    same(np.asarray(mesh.point_data["obj:vt"], "f4"), texture)
    same(np.asarray(mesh.point_data["obj:vn"], "f4"), normal)
    # What it writes we read: the Rust side compares.
    cells = [("triangle", triangles)]
    meshio.write(f"{folder}/meshio.vtu", meshio.Mesh(positions, cells, {"velocity": velocity, "body": body}))


def check_pyvista():
    import pyvista

    for name in ["points", "small_points"]:
        mesh = pyvista.read(f"{folder}/{name}.vtu")
        assert mesh.n_cells == POINTS and set(mesh.celltypes) == {1}
        same(mesh.points, positions)
        check_vtk_fields(mesh.point_data)
        assert mesh.field_data["TimeValue"][0] == TIME
    for name in ["mesh", "small_mesh"]:
        mesh = pyvista.read(f"{folder}/{name}.vtu")
        assert mesh.n_cells == len(triangles) and set(mesh.celltypes) == {5}
        same(mesh.cells.reshape(-1, 4)[:, 1:], triangles)
        check_vtk_fields(mesh.point_data, ["texture_coordinates"])
        same(mesh.active_texture_coordinates, texture)
    for name in ["mesh.ply", "mesh.obj"]:
        mesh = pyvista.read(f"{folder}/{name}")
        same(np.asarray(mesh.points, "f4"), positions)
        same(mesh.regular_faces, triangles)
    grid = pyvista.UnstructuredGrid({5: triangles}, positions)
    grid.point_data["velocity"], grid.point_data["body"] = velocity, body
    grid.save(f"{folder}/pyvista.vtu")
    surface = pyvista.PolyData.from_regular_faces(positions, triangles)
    surface.point_data["velocity"], surface.point_data["body"] = velocity, body
    surface.save(f"{folder}/pyvista.vtp")
    surface.save(f"{folder}/pyvista_text.vtp", binary=False)


def check_numpy():
    for name in ["points", "small_points", "mesh", "small_mesh"]:
        arrays = np.load(f"{folder}/{name}.npz")
        same(arrays["positions"], positions)
        assert arrays["time"] == TIME and arrays["frame"] == 4
        check_vtk_fields({k: arrays[k] for k in ["velocity", "body", "von Mises stress <Pa>", "x", "normal"]})
        if "mesh" in name:
            same(arrays["triangles"], triangles)
            same(arrays["texture_coordinates"], texture)
    table = np.genfromtxt(f"{folder}/points.csv", delimiter=",", skip_header=1).astype("f4")
    same(table[:, :3], positions)
    same(table[:, 3:6], velocity)
    same(table[:, 6], body)
    same(table[:, 7], stress)
    same(table[:, 8], x)
    same(table[:, 9:12], normal)
    np.savez(f"{folder}/numpy.npz", positions=positions.astype("f8"), velocity=velocity, body=body)
    np.savez_compressed(f"{folder}/numpy_small.npz", positions=positions, velocity=velocity, body=body)


def check_bgeo():
    """From the description of the format, in the way of Blender's sequence loader."""
    import gzip
    import struct

    for name in ["points", "small_points", "mesh", "small_mesh"]:
        data = gzip.open(f"{folder}/{name}.bgeo").read()
        assert data[:5] == b"BgeoV"
        head = struct.unpack(">9i", data[5:41])
        prims = len(triangles) if "mesh" in name else 0
        assert head[:5] == (5, POINTS, prims, 0, 0) and head[6:] == (0, 0, 0), head
        at, attributes, kinds = 41, [("P", 4)], {}
        for _ in range(head[5]):
            length = struct.unpack_from(">h", data, at)[0]
            attribute = data[at + 2 : at + 2 + length].decode()
            at += 2 + length
            size, kinds[attribute] = struct.unpack_from(">hi", data, at)
            at += 6 + 4 * size
            attributes.append((attribute, size))
        width = sum(size for _, size in attributes)
        rows = np.frombuffer(data, ">f4", POINTS * width, at).reshape(POINTS, width)
        at += 4 * POINTS * width
        columns, start = {}, 0
        for attribute, size in attributes:
            values = rows[:, start : start + size]
            columns[attribute] = values.copy().view(">i4") if kinds.get(attribute) == 1 else values
            start += size
        same(columns["P"][:, :3], positions)
        assert (columns["P"][:, 3] == 1).all()
        same(columns["v"], velocity)
        same(columns["N"], normal)
        same(columns["body"], body)
        same(columns["von_Mises_stress__Pa_"], stress)
        same(columns["x"], x)
        assert kinds["v"] == kinds["N"] == 5 and kinds["x"] == 0
        if prims:
            same(columns["uv"][:, :2], texture)
            run, count, kind = struct.unpack_from(">IHI", data, at)
            assert (run, count, kind) == (0xFFFFFFFF, prims, 1)
            polygon = np.dtype([("count", ">i4"), ("closed", "S1"), ("corners", ">u2", 3)])
            polygons = np.frombuffer(data, polygon, prims, at + 10)
            assert (polygons["count"] == 3).all() and (polygons["closed"] == b"<").all()
            same(polygons["corners"][:, ::-1], triangles)
            at += 10 + prims * polygon.itemsize
        assert data[at:] == b"\x00\xff"


def check_splashsurf():
    """The reader of Blender's sequence loader is part of this package."""
    from pysplashsurf.bgeo import readbgeo_to_meshio

    for name in ["points", "small_points"]:
        mesh = readbgeo_to_meshio(f"{folder}/{name}.bgeo")
        same(mesh.points, positions)
        same(mesh.point_data["v"], velocity)
        same(mesh.point_data["body"], body)
        same(mesh.point_data["x"], x)


def check_usd():
    from pxr import Usd, UsdGeom

    def numbers(attribute, code):
        return np.array(attribute.Get(code))

    def check_body(stage, path, part, code):
        prim = stage.GetPrimAtPath(path)
        points = UsdGeom.PointBased(prim)
        primvars = UsdGeom.PrimvarsAPI(prim)
        same(numbers(points.GetPointsAttr(), code), positions[part])
        same(numbers(points.GetVelocitiesAttr(), code), velocity[part])
        same(numbers(points.GetNormalsAttr(), code), normal[part])
        same(numbers(primvars.GetPrimvar("body"), code), body[part])
        same(numbers(primvars.GetPrimvar("von_Mises_stress__Pa_"), code), stress[part])
        same(numbers(primvars.GetPrimvar("x"), code), x[part])
        assert primvars.GetPrimvar("x").GetInterpolation() == "vertex"
        extent = points.GetExtentAttr().Get(code)
        assert np.allclose(extent[0], positions[part].min(0) - 0.05)
        if prim.GetTypeName() == "Points":
            widths = UsdGeom.Points(prim)
            assert list(widths.GetWidthsAttr().Get(code)) == [np.float32(0.1)]
            assert widths.GetWidthsInterpolation() == "constant"
        return prim

    for name in ["points", "mesh", "film"]:
        stage = Usd.Stage.Open(f"{folder}/{name}.usdc")
        assert UsdGeom.GetStageUpAxis(stage) == "Y" and UsdGeom.GetStageMetersPerUnit(stage) == 1
        assert stage.GetTimeCodesPerSecond() == 50
        assert stage.GetDefaultPrim().GetPath() == "/scene"
        assert [str(prim.GetPath()) for prim in stage.Traverse()][:2] == ["/scene", "/scene/cube"]
        for code in [30.0, 31.0] if name == "film" else [30.0]:
            cube = check_body(stage, "/scene/cube", CUBE, code)
        assert UsdGeom.PointBased(cube).GetPointsAttr().GetTimeSamples() == ([30, 31] if name == "film" else [30])
        assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (30, 31 if name == "film" else 30)
    stage = Usd.Stage.Open(f"{folder}/mesh.usdc")
    mesh = UsdGeom.Mesh(check_body(stage, "/scene/cube", CUBE, 30.0))
    cube = triangles[triangles[:, 0] < CUBE.stop]
    same(numbers(mesh.GetFaceVertexIndicesAttr(), 30), cube)
    assert set(mesh.GetFaceVertexCountsAttr().Get(30)) == {3}
    assert mesh.GetSubdivisionSchemeAttr().Get() == "none"
    primvar = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("st")
    same(numbers(primvar, 30), texture[CUBE])
    corners, counts = mesh.GetFaceVertexIndicesAttr().Get(30), mesh.GetFaceVertexCountsAttr().Get(30)
    assert UsdGeom.Mesh.ValidateTopology(corners, counts, CUBE.stop)[0]

    # A run: each layer is a value clip.
    stage = Usd.Stage.Open(f"{folder}/frames/run.usda")
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (30, 32)
    for code in [30.0, 31.0, 32.0]:
        points = UsdGeom.Points(check_body(stage, "/scene/cube", CUBE, code))
    assert points.GetPointsAttr().GetTimeSamples() == [30, 31, 32]
    assert points.GetPointsAttr().ValueMightBeTimeVarying()

    # A surface has other triangles at every time.
    for name in ["surface.usdc", "surface/frames/surface.usda"]:
        stage = Usd.Stage.Open(f"{folder}/{name}")
        mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/scene/cube"))
        assert mesh.GetPointsAttr().GetTimeSamples() == [30, 31, 32]
        for k, code in enumerate([30, 31, 32]):
            number = 300 + 20 * k
            corners, counts = mesh.GetFaceVertexIndicesAttr().Get(code), mesh.GetFaceVertexCountsAttr().Get(code)
            assert len(mesh.GetPointsAttr().Get(code)) == len(mesh.GetNormalsAttr().Get(code)) == number
            assert list(counts) == [3] * (number - 2)
            assert UsdGeom.Mesh.ValidateTopology(corners, counts, number)[0]


{
    "meshio": check_meshio,
    "pyvista": check_pyvista,
    "numpy": check_numpy,
    "bgeo": check_bgeo,
    "pysplashsurf": check_splashsurf,
    "pxr": check_usd,
}[reader]()
